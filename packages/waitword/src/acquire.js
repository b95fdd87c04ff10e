// The three ways to acquire a lock on one word: without waiting, blocking, and awaiting. For locks that return a guard.
import { Waits, blockOptions, waitOptions } from './waits.js';

export class Acquire {
  #take;
  #step;
  #guard;
  #names;
  #waits;

  /**
   * `take` attempts to acquire without waiting, and returns whether it did. `step` and `forward` are those of `waits.js`. `guard` creates the
   * caller's guard. `names` are the names of the lock's blocking and awaiting methods.
   */
  constructor(word, { take, step, forward, guard, names }) {
    this.#take = take;
    this.#step = step;
    this.#guard = guard;
    this.#names = names;
    // If this agent has another waiter, nothing need be forwarded: that waiter acquires in its turn, and its release notifies the next.
    this.#waits = new Waits(word, { forward: (_, absorbed) => absorbed || forward() });
  }

  atOnce() {
    return this.#take() ? this.#guard() : null;
  }

  /** Returns null at the deadline. */
  blocking(options) {
    const end = blockOptions(options, this.#names);
    return this.#take() || this.#waits.block(this.#step, end, this.#names) ? this.#guard() : null;
  }

  /** Resolves with null at the deadline. Rejects if the signal has aborted already, even if the lock is free. */
  async awaiting(options) {
    const end = waitOptions(options);
    return this.#take() || (await this.#waits.async(this.#step, end)) ? this.#guard() : null;
  }
}
