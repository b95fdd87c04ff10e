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
// An unlock without waiters is one exchange. A waiter acquires the lock as CONTENDED, because it cannot know whether there are waiters behind it.
// If it acquired the lock as LOCKED, its unlock would not notify them.
//
// `forward` on a lock that was acquired meanwhile (LOCKED) makes its holder notify. The holder of a CONTENDED lock does so anyway.
//
// The Rust locks on such a word, `waitword::word::AsyncLock` and that of `waitword-web`, follow the same table.
import { Acquire } from './acquire.js';
import { Release } from './release.js';
import { DONE, shown, waitOptions } from './waits.js';
import { Word, wordsAt } from './word.js';

const FREE = 0;
const LOCKED = 1;
const CONTENDED = 2;
const NAMES = ['lock', 'lockAsync'];

/** A guard that holds the lock until it is released. */
export class LockGuard extends Release {}

export class AsyncLock {
  static FREE = FREE;
  static LOCKED = LOCKED;
  static CONTENDED = CONTENDED;
  /** The number of words of a lock. */
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
    if (typeof callback !== 'function') throw new TypeError(`the callback of executeLocked() must be a function, not ${shown(callback)}`);
    waitOptions(options);
    // If the lock is free, there is no await before the callback, so it runs before this method returns.
    const guard = this.tryLock() ?? (await this.lockAsync(options));
    if (guard === null) throw new DOMException(`timed out: the lock was not acquired within ${options.timeout} ms`, 'TimeoutError');
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
