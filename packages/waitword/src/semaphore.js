// Permits, counted on one 32-bit word: twice the number of free permits, plus WAITERS (1) if there may be waiters.
//
// |            | permits free                              | none (0)          | none, WAITERS (1)   |
// |------------|-------------------------------------------|-------------------|---------------------|
// | tryAcquire | takes one                                 | –                 | –                   |
// | step       | takes one, + WAITERS; if some are left, notify one | → 1: wait | wait              |
// | release(n) | + n, without WAITERS; notify n if it was set | the same       | the same            |
// | forward    | notify one                                | → 1               | –                   |
//
// A release clears WAITERS, and a waiter that takes a permit sets it again, as in the lock. A release between these two does not
// notify. So the waiter that takes a permit and leaves some notifies the next.
import { Release } from './release.js';
import { DONE, Waits } from './waits.js';
import { wordsAt } from './word.js';

const WAITERS = 1;
const PERMIT = 2;
const MAX_PERMITS = 2 ** 30 - 1;
const NAMES = ['acquire', 'acquireAsync'];

/** Holds a permit until it is released. */
export class Permit extends Release {}

export class Semaphore {
  static MAX_PERMITS = MAX_PERMITS;
  /** How many words a semaphore takes. */
  static WORDS = 1;

  #words;
  #index;
  #waits;

  constructor(target, index = 0) {
    this.#words = wordsAt(target, index, Semaphore.WORDS, 'Semaphore');
    this.#index = index;
    this.#waits = new Waits(this.#words, index, { forward: (_, absorbed) => absorbed || this.#forward() });
  }

  get buffer() {
    return this.#words.buffer;
  }

  get permits() {
    return Atomics.load(this.#words, this.#index) >> 1;
  }

  tryAcquire() {
    return this.#take(0) ? this.#permit() : null;
  }

  acquire({ timeout } = {}) {
    return this.#take(0) || this.#waits.block(this.#step, timeout, NAMES) ? this.#permit() : null;
  }

  async acquireAsync(options) {
    options?.signal?.throwIfAborted();
    return this.#take(0) || (await this.#waits.async(this.#step, options)) ? this.#permit() : null;
  }

  release(permits = 1) {
    if (!Number.isInteger(permits) || permits < 0) throw new RangeError(`release takes a number of permits, not ${String(permits)}`);
    if (permits === 0) return;
    for (let value = Atomics.load(this.#words, this.#index); ; ) {
      if ((value >> 1) + permits > MAX_PERMITS) throw new RangeError(`a semaphore holds ${MAX_PERMITS} permits at most`);
      const before = Atomics.compareExchange(this.#words, this.#index, value, (value & ~WAITERS) + PERMIT * permits);
      if (before === value) {
        if (value & WAITERS) Atomics.notify(this.#words, this.#index, permits);
        return;
      }
      value = before;
    }
  }

  #permit() {
    return new Permit({ unlock: () => this.release() });
  }

  /** Takes a permit if one is free, and returns whether. */
  #take(mark) {
    for (let value = Atomics.load(this.#words, this.#index); value >= PERMIT; ) {
      const before = Atomics.compareExchange(this.#words, this.#index, value, (value - PERMIT) | mark);
      if (before === value) {
        if (mark && value - PERMIT >= PERMIT) Atomics.notify(this.#words, this.#index, 1);
        return true;
      }
      value = before;
    }
    return false;
  }

  #step = () => {
    do if (this.#take(WAITERS)) return DONE;
    while (Atomics.compareExchange(this.#words, this.#index, 0, WAITERS) >= PERMIT);
    return WAITERS;
  };

  #forward() {
    if (Atomics.compareExchange(this.#words, this.#index, 0, WAITERS) >= PERMIT) Atomics.notify(this.#words, this.#index, 1);
  }
}
