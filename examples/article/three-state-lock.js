// The "more realistic lock" that the article recommends: it tells "locked" from "locked with contention", so an unlock
// that nobody waits for leaves the queue alone. waitword's Rust `AsyncLock` keeps the same protocol in the same word:
// a Rust thread and a script can share one lock (examples/embed.rs).
//
//              lock: 0 -> 1           lock: 1 -> 2, then wait
//   FREE (0) ------------> LOCKED (1) -----------------------> CONTENDED (2)
//      ^                       |                                    |
//      |  unlock: nobody waits |                 unlock: notify one |
//      +-----------------------+------------------------------------+
//
// There is no `export` here, so that the file also runs as a plain script: it defines a global in either case.
//   import './three-state-lock.js';   // or evaluate its text
//   const lock = new ThreeStateLock(sharedArrayBuffer);
class ThreeStateLock {
  static FREE = 0;
  static LOCKED = 1;
  static CONTENDED = 2;

  #words;
  #index;

  /** The lock lives in the 32-bit word `index` of `sab`; whoever builds one there shares it. A zeroed word is free. */
  constructor(sab, index = 0) {
    this.#words = new Int32Array(sab);
    this.#index = index;
  }

  /** Takes the lock if it is free; never waits. */
  tryLock() {
    const { FREE, LOCKED } = ThreeStateLock;
    return Atomics.compareExchange(this.#words, this.#index, FREE, LOCKED) === FREE;
  }

  /** Takes the lock, blocking this agent until it can. On an agent that must not block: `lockAsync`. */
  lock() {
    if (this.tryLock()) return;
    while (!this.#takeContended()) Atomics.wait(this.#words, this.#index, ThreeStateLock.CONTENDED);
  }

  /** Takes the lock without blocking this agent; the promise is fulfilled once it is held. */
  async lockAsync() {
    if (this.tryLock()) return;
    while (!this.#takeContended()) await Atomics.waitAsync(this.#words, this.#index, ThreeStateLock.CONTENDED).value;
  }

  /** Frees the lock and wakes the one who has waited longest, if anybody waits. */
  unlock() {
    const { FREE, CONTENDED } = ThreeStateLock;
    const before = Atomics.exchange(this.#words, this.#index, FREE);
    if (before === FREE) throw new Error('Tried to unlock while not holding the mutex');
    if (before === CONTENDED) Atomics.notify(this.#words, this.#index, 1);
  }

  /**
   * Runs `f` under the lock without blocking this agent. The promise brings what `f` returned or threw; either way the
   * lock is free again. If `f` returns a promise, the lock is held until that settles.
   */
  async executeLocked(f) {
    await this.lockAsync();
    try {
      return await f();
    } finally {
      this.unlock();
    }
  }

  // Whoever has once failed to get the lock takes it as CONTENDED: it cannot know whether others still wait behind it.
  // At worst that costs one notify that finds nobody; LOCKED would cost somebody their wake.
  #takeContended() {
    const { FREE, CONTENDED } = ThreeStateLock;
    return Atomics.exchange(this.#words, this.#index, CONTENDED) === FREE;
  }
}

globalThis.ThreeStateLock = ThreeStateLock;
