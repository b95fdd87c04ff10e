// Permits, counted on one 32-bit word: twice the number of free permits, plus WAITERS (1) if there may be waiters.
//
// |            | permits free                              | none (0)          | none, WAITERS (1)   |
// |------------|-------------------------------------------|-------------------|---------------------|
// | tryAcquire | takes one                                 | –                 | –                   |
// | step       | takes one, + WAITERS; if some are left, notify one | → 1: wait | wait              |
// | release(n) | + n, without WAITERS; notify n if it was set | the same       | the same            |
// | forward    | notify one                                | → 1               | –                   |
//
// A release clears WAITERS, and a waiter that acquires a permit sets it again, as in the lock. A release between these two does not notify. So a
// waiter that acquires a permit while others are free notifies the next waiter.
import { Acquire } from './acquire.js';
import { Release } from './release.js';
import { DONE, shown } from './waits.js';
import { Word, wordsAt } from './word.js';

const WAITERS = 1;
const PERMIT = 2;
const MAX_PERMITS = 2 ** 30 - 1;
const NAMES = ['acquire', 'acquireAsync'];

/** A guard that holds a permit until it is released. */
export class Permit extends Release {}

export class Semaphore {
  static MAX_PERMITS = MAX_PERMITS;
  /** The number of words of a semaphore. */
  static WORDS = 1;

  #word;
  #acquire;

  constructor(target, index = 0) {
    this.#word = new Word(wordsAt(target, index, Semaphore.WORDS, 'Semaphore'), index);
    this.#acquire = new Acquire(this.#word, {
      take: () => this.#take(0),
      step: () => this.#step(),
      forward: () => this.#forward(),
      guard: () => new Permit({ unlock: () => this.release() }),
      names: NAMES,
    });
  }

  get buffer() {
    return this.#word.buffer;
  }

  get permits() {
    return this.#word.load() >> 1;
  }

  tryAcquire() {
    return this.#acquire.atOnce();
  }

  acquire(options) {
    return this.#acquire.blocking(options);
  }

  async acquireAsync(options) {
    return this.#acquire.awaiting(options);
  }

  release(permits = 1) {
    if (typeof permits !== 'number') throw new TypeError(`the argument of release() must be a number of permits, not ${shown(permits)}`);
    if (!Number.isInteger(permits) || permits < 0) throw new RangeError(`the number of permits must be a non-negative integer, not ${permits}`);
    if (permits === 0) return;
    const before = this.#word.change((value) => {
      if ((value >> 1) + permits > MAX_PERMITS) throw new RangeError(`too many permits: at most ${MAX_PERMITS} can be free`);
      return (value & ~WAITERS) + PERMIT * permits;
    });
    if (before & WAITERS) this.#word.notify(permits);
  }

  /** Attempts to acquire a permit. Returns whether it did. */
  #take(mark) {
    const before = this.#word.change((value) => (value >= PERMIT ? (value - PERMIT) | mark : undefined));
    if (mark && before - PERMIT >= PERMIT) this.#word.notify(1);
    return before !== undefined;
  }

  #step() {
    do if (this.#take(WAITERS)) return DONE;
    while (this.#word.compareExchange(0, WAITERS) >= PERMIT);
    return WAITERS;
  }

  #forward() {
    if (this.#word.compareExchange(0, WAITERS) >= PERMIT) this.#word.notify(1);
  }
}
