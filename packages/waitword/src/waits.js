// The waits of one agent on one word: one acquisition loop with two drivers, for callers that block and for those that await.
//
// A lock gives `step`: it takes what the caller wants (`DONE`), or marks the word and returns the value to sleep on. The engine
// compares that value and enqueues the caller in one step, so a release in between is not missed:
//
//   waiter                                notifier
//   ──────────────────────────────────    ──────────────────────────────────
//   step: not free; marks the word
//                                         changes the word, sees the mark
//                                         notify: nobody is queued yet
//   wait(expected): 'not-equal'
//   step again
//
// # A wait that is given up
// `Atomics.waitAsync` cannot be cancelled. Its entry stays in the engine's queue, and a notify that reaches it is not meant for
// anybody:
//
//   A (awaits, head)              holder                          B (blocked, behind A)
//   ──────────────────────────    ────────────────────────────    ──────────────────────
//   aborted; the entry stays
//                                 releases; notify(1) wakes A
//   nobody waits here                                             sleeps beside a free lock
//
// So an entry belongs to the agent, not to the waiter. A waiter that arrives while the agent has an entry to spare adopts it
// instead of making another: entries are never more than the most waiters there were at once, however many gave up. An entry
// that fires serves the first waiter of the agent, and without one it is *forwarded*: `forward` does what is left to do for
// the waiters of other agents.
//
// Adopting needs no comparison. The entry was queued before the adopter marked the word, so the release that sees the mark
// finds it there; or it fired already, and then the adopter steps again as soon as the agent's event loop turns.
//
// # An agent that does not turn its event loop
// A wakeup may wait in the queue of a busy page while the lock is free. So waiters recheck: after STALL_TIMEOUT, then after
// intervals that double up to LONGEST_STALL_TIMEOUT. A waiter that awaits rechecks in place. One that blocks has to leave the
// engine's queue for it, and goes on at the tail: FIFO order holds among blocked waits that are shorter than the interval. That also
// makes up for a notify that reached a waiter of a terminated worker, which an engine may keep in its queue.
//
// # Who may notify
// Only the functions of this package, and of locks with the same states, notify a word. A foreign notify costs a vain recheck.
import { entryLimit } from './wait_async.js';

/** What `step` returns when the caller has what it wants. */
export const DONE = undefined;

/** After how many milliseconds a waiter first rechecks without having been woken. */
export const STALL_TIMEOUT = 20;

/** The longest time between two rechecks, in milliseconds. */
export const LONGEST_STALL_TIMEOUT = 1000;

export class Waits {
  #word;
  #forward;
  #shortest; // interval between rechecks
  #waiters = new Set(); // of this agent, in the order they came
  #entries = 0; // of this agent in the engine's queue
  #interval;
  #watching = false;

  /**
   * `forward(expected)` passes on a wakeup that reached an entry made with `expected` and found no waiter of this agent that it
   * was for. `interval` is the time to the first recheck; it is long where a recheck may end a wait without need.
   */
  constructor(word, { forward, interval = STALL_TIMEOUT }) {
    this.#word = word;
    this.#forward = forward;
    this.#shortest = this.#interval = interval;
  }

  /** Blocks until `step` is done, and returns true; or false at the deadline. */
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
          const isDone = step() === DONE; // what is free is taken also after the deadline
          end();
          resolve(isDone);
        }
      };
      const waiter = { step, done };
      this.#waiters.add(waiter);
      // With a signal as well: that of `AbortSignal.timeout` does not keep a program of Node alive until it aborts.
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
    // The agent's own entry comes after the forwarded wakeup, so it cannot be the one that is woken.
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

/** Throws where this agent must not block: the main thread of a page. `names` are the method that would, and the one to use. */
export function checkMayBlock([method, instead]) {
  mayBlock ??= probe();
  if (!mayBlock) {
    throw new TypeError(`${method}() would have to block, which the main thread of a page must not: use \`await ${instead}()\``);
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

/** When a wait that awaits ends, if it begins now. Throws if these are no options, or the signal has aborted. */
export function waitOptions(options) {
  const { deadline, signal } = read(options);
  signal?.throwIfAborted();
  return { deadline, signal };
}

/** As `waitOptions`, for a wait that blocks: nobody could abort it. */
export function blockOptions(options, [method, instead]) {
  const { deadline, signal } = read(options);
  if (signal !== undefined) throw new TypeError(`${method}() takes no signal, because nothing could abort it: use \`await ${instead}()\``);
  return { deadline };
}

function read(options = {}) {
  if (!areOptions(options)) {
    throw new TypeError(`options are an object such as { timeout: 100 } or { signal }, not ${shown(options)}`);
  }
  const { timeout = Infinity, signal } = options;
  if (typeof timeout !== 'number' || Number.isNaN(timeout)) {
    throw new TypeError(`timeout is a number of milliseconds, not ${shown(timeout)}`);
  }
  if (signal !== undefined && !(typeof signal?.throwIfAborted === 'function' && typeof signal.addEventListener === 'function')) {
    throw new TypeError(`signal is an AbortSignal, not ${shown(signal)}`);
  }
  return { deadline: performance.now() + timeout, signal };
}

/** A plain object, of any realm, or another one that has an option. A signal itself, an array or a date would be a wait without an end. */
function areOptions(options) {
  if (typeof options !== 'object' || options === null) return false;
  const prototype = Object.getPrototypeOf(options);
  return prototype === null || Object.getPrototypeOf(prototype) === null || 'timeout' in options || 'signal' in options;
}

/** A value in a message, whatever it is. */
export const shown = (value) => (Object(value) === value ? Object.prototype.toString.call(value) : typeof value === 'string' ? `'${value}'` : String(value));
