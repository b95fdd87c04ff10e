// A mutex on one 32-bit word.
//
// |            | FREE (0)        | LOCKED (1)            | CONTENDED (2)                         |
// |------------|-----------------|-----------------------|---------------------------------------|
// | means      | not held        | held                  | held, and there may be waiters        |
// | tryLock    | → LOCKED: taken | –                     | –                                     |
// | step       | → CONTENDED: taken | → CONTENDED: wait  | wait                                  |
// | unlock     | error           | → FREE                | → FREE, notify one                    |
// | forward    | notify one      | → CONTENDED           | –                                     |
//
// An unlock without waiters is one exchange. A waiter takes the lock as CONTENDED, because it cannot know whether there are more
// behind it: as LOCKED, its unlock would not notify them.
//
// Forwarding to a lock that was taken meanwhile (LOCKED) makes its holder notify. The holder of a CONTENDED lock does so anyway.
//
// The Rust type `waitword::AsyncLock` has the same table on the same word.
import { Release } from './release.js';
import { DONE, Waits } from './waits.js';
import { wordsAt } from './word.js';

const FREE = 0;
const LOCKED = 1;
const CONTENDED = 2;
const NAMES = ['lock', 'lockAsync'];

/** Holds the lock until it is released. */
export class LockGuard extends Release {}

export class AsyncLock {
  static FREE = FREE;
  static LOCKED = LOCKED;
  static CONTENDED = CONTENDED;
  /** How many words a lock takes. */
  static WORDS = 1;

  #words;
  #index;
  #waits;

  constructor(target, index = 0) {
    this.#words = wordsAt(target, index, AsyncLock.WORDS, 'AsyncLock');
    this.#index = index;
    this.#waits = new Waits(this.#words, index, { forward: (_, absorbed) => absorbed || this.#forward() });
  }

  get buffer() {
    return this.#words.buffer;
  }

  get isLocked() {
    return Atomics.load(this.#words, this.#index) !== FREE;
  }

  tryLock() {
    return this.#take() ? new LockGuard(this) : null;
  }

  lock({ timeout } = {}) {
    const locked = this.#take() || this.#waits.block(this.#step, timeout, NAMES);
    return locked ? new LockGuard(this) : null;
  }

  async lockAsync(options) {
    options?.signal?.throwIfAborted();
    return this.#take() || (await this.#waits.async(this.#step, options)) ? new LockGuard(this) : null;
  }

  unlock() {
    const before = Atomics.exchange(this.#words, this.#index, FREE);
    if (before === FREE) throw new Error('unlock of a lock that is not held: was it released twice, or never locked?');
    if (before !== LOCKED) Atomics.notify(this.#words, this.#index, 1);
  }

  async executeLocked(callback, options) {
    options?.signal?.throwIfAborted();
    // Without an await where the lock is free: the callback runs before this returns.
    const guard = this.tryLock() ?? (await this.lockAsync(options));
    if (guard === null) throw new DOMException(`the lock was not free within ${options.timeout} ms`, 'TimeoutError');
    try {
      return await callback();
    } finally {
      guard.release();
    }
  }

  #take() {
    return Atomics.compareExchange(this.#words, this.#index, FREE, LOCKED) === FREE;
  }

  #step = () => (Atomics.exchange(this.#words, this.#index, CONTENDED) === FREE ? DONE : CONTENDED);

  #forward() {
    const before = Atomics.compareExchange(this.#words, this.#index, LOCKED, CONTENDED);
    if (before === FREE) Atomics.notify(this.#words, this.#index, 1);
  }
}
