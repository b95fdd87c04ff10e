// The waits of one agent on one word: one acquisition loop with two drivers, for callers that block and for callers that await.
//
// Each lock provides `step`, which either acquires (and returns `DONE`), or marks the word and returns the value to sleep on. The engine compares
// that value and enqueues the caller in one step, so a release in between is not missed:
//
//   waiter                                notifier
//   ──────────────────────────────────    ──────────────────────────────────
//   step: not free; marks the word
//                                         changes the word, sees the mark
//                                         notify: nobody is queued yet
//   wait(expected): 'not-equal'
//   step again
//
// # A wait that is abandoned
// `Atomics.waitAsync` cannot be cancelled. The entry of an abandoned wait stays in the engine's queue, and consumes a notify:
//
//   A (awaits, head)              holder                          B (blocked, behind A)
//   ──────────────────────────    ────────────────────────────    ──────────────────────
//   aborted; the entry stays
//                                 releases; notify(1) wakes A
//   no waiter for the wakeup                                      sleeps although the lock is free
//
// So an entry belongs to the agent, not to a waiter. If the agent has an unused entry, a new waiter adopts it instead of making another. So there are
// never more entries than the largest number of simultaneous waiters, however many were abandoned. An entry that fires serves the first waiter of the
// agent. If there is none, the wakeup is *forwarded*: `forward` notifies a waiter of another agent if that is needed.
//
// Adopting needs no comparison. Either the entry was queued before the adopter marked the word, so the release that sees the mark finds the entry. Or
// the entry has fired already, and the adopter steps again when the agent returns to its event loop.
//
// # An agent that does not return to its event loop
// A wakeup may wait in the task queue of a busy page while the lock is free. So waiters recheck: after STALL_TIMEOUT, then at intervals that double
// up to LONGEST_STALL_TIMEOUT. A waiter that awaits keeps its position in the queue. A waiter that blocks has to leave the engine's queue to recheck,
// and re-enters at the tail: FIFO order holds among blocked waits that are shorter than the interval. Rechecks also make up for a notify that reached
// a waiter of a terminated worker, which an engine may keep in its queue.
//
// # Who may notify
// Only the functions of this package, and of locks with the same states, notify a word. A foreign notify causes a needless recheck.
import { entryLimit } from './wait_async.js';

/** Returned by `step` when the caller has acquired. */
export const DONE = undefined;

/** The time after which a waiter first rechecks without having been woken, in milliseconds. */
export const STALL_TIMEOUT = 20;

/** The longest interval between two rechecks, in milliseconds. */
export const LONGEST_STALL_TIMEOUT = 1000;

export class Waits {
  #word;
  #forward;
  #shortest; // interval between rechecks
  #waiters = new Set(); // of this agent, in arrival order
  #entries = 0; // of this agent in the engine's queue
  #interval;
  #watching = false;

  /**
   * `forward(expected)` forwards a wakeup that reached an entry made with `expected`, and that no waiter of this agent has used. `interval` is the
   * time to the first recheck. It is long for locks where a recheck may end a wait spuriously.
   */
  constructor(word, { forward, interval = STALL_TIMEOUT }) {
    this.#word = word;
    this.#forward = forward;
    this.#shortest = this.#interval = interval;
  }

  /** Blocks until `step` is done. Returns true, or false at the deadline. */
  block(step, { deadline }, names) {
    for (let slice = this.#shortest; ; ) {
      const expected = step();
      if (expected === DONE) return true;
      const left = deadline - performance.now();
      if (left <= 0) return false;
      checkMayBlock(names);
      if (this.#word.wait(expected, Math.min(left, slice)) === 'timed-out') {
        slice = Math.min(2 * slice, LONGEST_STALL_TIMEOUT);
      }
    }
  }

  /** A promise of true when `step` is done, or of false at the deadline. Rejects when `signal` aborts. Calls `ended` before it settles. */
  async(step, { deadline, signal }, ended) {
    return new Promise((resolve, reject) => {
      let timer;
      const end = () => {
        this.#waiters.delete(waiter);
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        ended?.();
      };
      const abort = () => {
        end();
        reject(signal.reason);
      };
      const done = () => {
        end();
        this.#interval = this.#shortest;
        resolve(true);
      };
      const expire = () => {
        const left = deadline - performance.now(); // a timer may fire early, and cannot be longer than 24 days
        if (left > 0) {
          timer = setTimeout(expire, Math.min(Math.ceil(left), 0x7fffffff));
        } else {
          const isDone = step() === DONE; // a free lock is acquired even after the deadline
          end();
          resolve(isDone);
        }
      };
      const waiter = { step, done };
      this.#waiters.add(waiter);
      // Set a timer for a signal as well, because that of `AbortSignal.timeout` does not keep a Node program alive until it aborts.
      if (deadline < Infinity || signal) expire();
      if (!this.#waiters.has(waiter)) return; // the timeout is 0
      signal?.addEventListener('abort', abort, { once: true });
      if (this.#entries < Math.min(this.#waiters.size, entryLimit())) this.#enter(waiter);
      else this.#try(waiter);
      this.#watch();
    });
  }

  #try(waiter) {
    const expected = waiter.step();
    if (expected === DONE) waiter.done();
    return expected;
  }

  /** Makes an entry for `waiter`, unless it is done. */
  #enter(waiter) {
    for (let expected; (expected = this.#try(waiter)) !== DONE; ) {
      const { async, value } = this.#word.waitAsync(expected);
      if (!async) continue; // the word has changed
      this.#entries++;
      value.then((outcome) => this.#fired(outcome, expected));
      return;
    }
  }

  /** An entry has left the engine's queue. */
  #fired(outcome, expected) {
    this.#entries--;
    const [head] = this.#waiters;
    const served = head !== undefined && this.#try(head) === DONE;
    // Forward before the agent makes an entry of its own, so that the forwarded wakeup does not reach that entry.
    if (!served && outcome === 'ok') this.#forward(expected, head !== undefined);
    while (this.#entries < Math.min(this.#waiters.size, entryLimit())) {
      const [first] = this.#waiters;
      this.#enter(first);
    }
  }

  #watch() {
    if (this.#watching || this.#waiters.size === 0) return;
    this.#watching = true;
    const timer = setTimeout(() => {
      this.#watching = false;
      this.#interval = Math.min(2 * this.#interval, LONGEST_STALL_TIMEOUT);
      const [head] = this.#waiters;
      if (head !== undefined) this.#try(head);
      this.#watch();
    }, this.#interval);
    timer.unref?.(); // a pending wait does not keep a program alive, as in the engine
  }
}

let mayBlock;

/** Throws if this agent must not block (the main thread of a page). The arguments are the method that would block, and the one to use instead. */
export function checkMayBlock([method, instead]) {
  mayBlock ??= probe();
  if (!mayBlock) {
    throw new TypeError(`${method}() would block, and the main thread of a page must not block: use \`await ${instead}()\``);
  }
}

function probe() {
  try {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 1); // does not wait: the word is 0
    return true;
  } catch {
    return false;
  }
}

/** The deadline and signal of a wait that begins now. Throws if the options are not valid, or if the signal has aborted. */
export function waitOptions(options) {
  const { deadline, signal } = read(options);
  signal?.throwIfAborted();
  return { deadline, signal };
}

/** As `waitOptions`, for a wait that blocks, which no signal can abort. */
export function blockOptions(options, [method, instead]) {
  const { deadline, signal } = read(options);
  if (signal !== undefined) throw new TypeError(`${method}() takes no signal, because a signal cannot abort a blocked agent: use \`await ${instead}()\``);
  return { deadline };
}

function read(options = {}) {
  if (!areOptions(options)) {
    throw new TypeError(`options must be an object such as { timeout: 100 } or { signal }, not ${shown(options)}`);
  }
  const { timeout = Infinity, signal } = options;
  if (typeof timeout !== 'number' || Number.isNaN(timeout)) {
    throw new TypeError(`timeout must be a number of milliseconds, not ${shown(timeout)}`);
  }
  if (signal !== undefined && !(typeof signal?.throwIfAborted === 'function' && typeof signal.addEventListener === 'function')) {
    throw new TypeError(`signal must be an AbortSignal, not ${shown(signal)}`);
  }
  return { deadline: performance.now() + timeout, signal };
}

/**
 * Whether this is a plain object, of any realm, or has an option. A signal itself, an array or a date is refused, because it would be a wait without
 * a deadline.
 */
function areOptions(options) {
  if (typeof options !== 'object' || options === null) return false;
  const prototype = Object.getPrototypeOf(options);
  return prototype === null || Object.getPrototypeOf(prototype) === null || 'timeout' in options || 'signal' in options;
}

/** Any value, as text for a message. */
export const shown = (value) => (Object(value) === value ? Object.prototype.toString.call(value) : typeof value === 'string' ? `'${value}'` : String(value));
