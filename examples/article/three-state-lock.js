// A mutex with three states: it tells "locked" from "locked, and somebody may wait", so that an unlock without waiters
// does not notify. waitword's Rust `AsyncLock` has the same states in the same word, so a Rust thread and a script can
// share one lock (crates/waitword-quickjs/examples/embed.rs).
//
//              lock: 0 -> 1           lock: 1 -> 2, then wait
//   FREE (0) ------------> LOCKED (1) -----------------------> CONTENDED (2)
//      ^                       |                                    |
//      |  unlock: no waiters   |                 unlock: notify one |
//      +-----------------------+------------------------------------+
//
// There is no `export`, so that the file also runs as a plain script: it defines a global in either case.
//   import './three-state-lock.js';   // or evaluate its text
//   const lock = new ThreeStateLock(sharedArrayBuffer);
class ThreeStateLock {
  static FREE = 0;
  static LOCKED = 1;
  static CONTENDED = 2;

  #words;
  #index;

  /** The lock is the 32-bit word `index` of `buffer`. All instances on one word are one lock. A zeroed word is free. */
  constructor(buffer, index = 0) {
    this.#words = new Int32Array(buffer);
    this.#index = index;
  }

  /** Acquires the lock if it is free, and says whether. Never waits. */
  tryLock() {
    const { FREE, LOCKED } = ThreeStateLock;
    return Atomics.compareExchange(this.#words, this.#index, FREE, LOCKED) === FREE;
  }

  /** Acquires the lock and blocks this agent until then. An agent that must not block uses `lockAsync`. */
  lock() {
    if (this.tryLock()) return;
    while (!this.#acquireContended()) Atomics.wait(this.#words, this.#index, ThreeStateLock.CONTENDED);
  }

  /** Acquires the lock without blocking this agent. The promise is fulfilled when the lock is held. */
  async lockAsync() {
    if (this.tryLock()) return;
    while (!this.#acquireContended()) await Atomics.waitAsync(this.#words, this.#index, ThreeStateLock.CONTENDED).value;
  }

  /** Releases the lock, and wakes the head waiter if there may be one. Throws if the lock is not held. */
  unlock() {
    const { FREE, CONTENDED } = ThreeStateLock;
    const before = Atomics.exchange(this.#words, this.#index, FREE);
    if (before === FREE) throw new Error('unlock of a lock that is not held');
    if (before === CONTENDED) Atomics.notify(this.#words, this.#index, 1);
  }

  /**
   * Acquires the lock without blocking this agent, runs `callback`, and releases the lock, also if `callback` throws. If
   * `callback` returns a promise, the lock is held until that settles. The promise brings what `callback` returned or threw.
   */
  async executeLocked(callback) {
    await this.lockAsync();
    try {
      return await callback();
    } finally {
      this.unlock();
    }
  }

  // An acquirer that has waited, or is about to, acquires the lock as CONTENDED: more waiters may be queued, and it cannot
  // know. If there are none, its unlock notifies in vain. As LOCKED, its unlock would not notify, and they would be lost.
  #acquireContended() {
    const { FREE, CONTENDED } = ThreeStateLock;
    return Atomics.exchange(this.#words, this.#index, CONTENDED) === FREE;
  }
}

globalThis.ThreeStateLock = ThreeStateLock;
