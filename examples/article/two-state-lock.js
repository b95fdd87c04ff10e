// A mutex with two states, in one 32-bit word of shared memory.
//
//                     compareExchange 0 -> 1
//   UNLOCKED (0)  ------------------------------>  LOCKED (1)  <--+
//        ^                                             |          |  while the word is 1:
//        |     compareExchange 1 -> 0, notify one      |          |  wait or waitAsync, then retry
//        +---------------------------------------------+----------+
//
// `Atomics.wait` and `Atomics.waitAsync` compare the word and enqueue the caller in one step. A release between a failed
// compareExchange and the wait is therefore not missed: the wait returns 'not-equal', and the acquirer retries.
//
// A notified waiter does not own the lock. A barging acquirer may take it first; the waiter then waits again, at the end
// of the queue. The lock is not fair, and the number of such rounds has no bound.
//
// Every unlock notifies, because the word cannot say whether anybody waits. `three-state-lock.js` has a state for that.
export class AsyncLock {
  static UNLOCKED = 0;
  static LOCKED = 1;

  #words;
  #index;

  /** The lock is the 32-bit word `index` of `buffer`. All instances on one word are one lock. A zeroed word is unlocked. */
  constructor(buffer, index = 0) {
    this.#words = new Int32Array(buffer);
    this.#index = index;
  }

  /** Acquires the lock and blocks this agent until then. An agent that must not block uses `executeLocked`. */
  lock() {
    while (!this.#tryAcquire()) Atomics.wait(this.#words, this.#index, AsyncLock.LOCKED);
  }

  /** Releases the lock and wakes the head waiter. Throws, and changes nothing, if the lock is not held. */
  unlock() {
    if (!this.#replace(AsyncLock.LOCKED, AsyncLock.UNLOCKED)) throw new Error('unlock of a lock that is not held');
    Atomics.notify(this.#words, this.#index, 1);
  }

  /**
   * Acquires the lock without blocking this agent, runs `callback`, and releases the lock, also if `callback` throws.
   * If the lock is free, `callback` runs before this method returns. The promise brings what `callback` returned or threw.
   */
  async executeLocked(callback) {
    while (!this.#tryAcquire()) await Atomics.waitAsync(this.#words, this.#index, AsyncLock.LOCKED).value;
    try {
      return callback();
    } finally {
      this.unlock();
    }
  }

  #tryAcquire() {
    return this.#replace(AsyncLock.UNLOCKED, AsyncLock.LOCKED);
  }

  /** Changes the word from `from` to `to` in one step. Returns false, and changes nothing, if it did not hold `from`. */
  #replace(from, to) {
    return Atomics.compareExchange(this.#words, this.#index, from, to) === from;
  }
}
