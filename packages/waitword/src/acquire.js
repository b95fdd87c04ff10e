// Acquiring what others release, on one word, in three ways: at once, blocking, and awaiting. For locks that return a guard.
import { Waits, blockOptions, waitOptions } from './waits.js';

export class Acquire {
  #take;
  #step;
  #guard;
  #names;
  #waits;

  /**
   * `take` takes what is free, and returns whether; `step` and `forward` are those of `waits.js`; `guard` makes what the caller gets.
   * `names` are the lock's methods that block and that await.
   */
  constructor(word, { take, step, forward, guard, names }) {
    this.#take = take;
    this.#step = step;
    this.#guard = guard;
    this.#names = names;
    // Where this agent has a waiter left, nothing is lost: it acquires in its turn, and its release notifies the next.
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

  /** Brings null at the deadline. A signal that has aborted is an error also where nobody has to wait. */
  async awaiting(options) {
    const end = waitOptions(options);
    return this.#take() || (await this.#waits.async(this.#step, end)) ? this.#guard() : null;
  }
}
