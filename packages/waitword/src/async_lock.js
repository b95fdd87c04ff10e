// A mutex on one 32-bit word.
//
// |              | FREE (0)           | LOCKED (1)         | CONTENDED (2)                  |
// |--------------|--------------------|--------------------|--------------------------------|
// | means        | not held           | held               | held, and there may be waiters |
// | tryLock      | → LOCKED: taken    | –                  | –                              |
// | takeOrMark   | → CONTENDED: taken | → CONTENDED: wait  | wait                           |
// | unlock       | error              | → FREE             | → FREE, notify one             |
// | forward      | notify one         | → CONTENDED        | –                              |
//
// An unlock without waiters is one exchange. A waiter takes the lock as CONTENDED, because it cannot know whether there are more
// behind it: as LOCKED, its unlock would not notify them.
//
// Forwarding to a lock that was taken meanwhile (LOCKED) makes its holder notify. The holder of a CONTENDED lock does so anyway.
//
// The locks in Rust on such a word, `waitword::word::AsyncLock` and that of `waitword-web`, follow the same table.
import { Acquire } from './acquire.js';
import { Release } from './release.js';
import { DONE, waitOptions } from './waits.js';
import { Word, wordsAt } from './word.js';

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

  #word;
  #acquire;

  constructor(target, index = 0) {
    this.#word = new Word(wordsAt(target, index, AsyncLock.WORDS, 'AsyncLock'), index);
    this.#acquire = new Acquire(this.#word, {
      take: () => this.#word.compareExchange(FREE, LOCKED) === FREE,
      step: () => (this.#takeOrMark() ? DONE : CONTENDED),
      forward: () => this.#forward(),
      guard: () => new LockGuard(this),
      names: NAMES,
    });
  }

  get buffer() {
    return this.#word.buffer;
  }

  get isLocked() {
    return this.#word.load() !== FREE;
  }

  tryLock() {
    return this.#acquire.atOnce();
  }

  lock(options) {
    return this.#acquire.blocking(options);
  }

  async lockAsync(options) {
    return this.#acquire.awaiting(options);
  }

  unlock() {
    const before = this.#word.exchange(FREE);
    if (before === FREE) throw new Error('unlock of a lock that is not held: was it released twice, or never locked?');
    if (before !== LOCKED) this.#word.notify(1);
  }

  async executeLocked(callback, options) {
    if (typeof callback !== 'function') throw new TypeError('executeLocked() takes a function, which runs when the lock is held');
    waitOptions(options);
    // Without an await where the lock is free: the callback runs before this returns.
    const guard = this.tryLock() ?? (await this.lockAsync(options));
    if (guard === null) throw new DOMException(`the lock was not free within ${options.timeout} ms`, 'TimeoutError');
    try {
      return await callback();
    } finally {
      guard.release();
    }
  }

  #takeOrMark() {
    return this.#word.exchange(CONTENDED) === FREE;
  }

  #forward() {
    const before = this.#word.compareExchange(LOCKED, CONTENDED);
    if (before === FREE) this.#word.notify(1);
  }
}
