// A condition variable beside an AsyncLock, on two words: the number of notifies, which is slept on, and the number of waiters.
//
// A waiter reads the first word while it holds the lock. A notifier, which takes the lock afterwards, changes that word, so a
// notify before the waiter sleeps is not missed. And the waiter counts itself before it unlocks, so a notifier that reads 0 in the
// second word has nobody to wake: it changes and notifies nothing.
//
//   waiter (holds the lock)               notifier
//   ──────────────────────────────────    ──────────────────────────────────
//   waiters + 1; reads notifies: 7
//   unlock
//                                         lock; changes the condition; unlock
//                                         waiters is not 0: notifies = 8, notify(1)
//   wait(7): 'not-equal'
//
// # What is forwarded
// A wakeup is for waiters that came before it. A waiter that came later sees its own number in the first word, steps, and sleeps
// again; the wakeup is forwarded. It has gone too far when the entry it reached was made with the present number: entries behind
// are no older. So forwarding ends, also among agents whose entries are all too young.
//
// There is no requeue onto the lock: who is notified takes the lock like anybody else.
import { DONE, Waits, checkMayBlock } from './waits.js';
import { Word, wordsAt } from './word.js';

const NAMES = ['wait', 'waitAsync'];

export class Condition {
  /** How many words a condition takes. */
  static WORDS = 2;

  #notifies;
  #waiters;
  #waits;

  constructor(target, index = 0) {
    const words = wordsAt(target, index, Condition.WORDS, 'Condition');
    this.#notifies = new Word(words, index);
    this.#waiters = new Word(words, index + 1);
    this.#waits = new Waits(this.#notifies, { forward: (expected) => this.#forward(expected), rechecks: false });
  }

  get buffer() {
    return this.#notifies.buffer;
  }

  wait(lock, { timeout } = {}) {
    checkMayBlock(NAMES); // while the lock is still held
    const step = this.#begin(lock);
    try {
      return this.#waits.block(step, timeout, NAMES);
    } finally {
      this.#waiters.add(-1);
      lock.lock();
    }
  }

  async waitAsync(lock, options) {
    options?.signal?.throwIfAborted();
    const step = this.#begin(lock);
    try {
      return await this.#waits.async(step, options);
    } finally {
      this.#waiters.add(-1);
      await lock.lockAsync(); // also when it was aborted: the caller's `finally` unlocks
    }
  }

  notifyOne() {
    this.#notify(1);
  }

  notifyAll() {
    this.#notify(Infinity);
  }

  #begin(lock) {
    const seen = this.#notifies.load();
    this.#waiters.add(1);
    try {
      lock.unlock();
    } catch (cause) {
      this.#waiters.add(-1);
      throw new Error('a wait on a condition needs its lock held, by this caller', { cause });
    }
    return () => (this.#notifies.load() === seen ? seen : DONE);
  }

  #notify(count) {
    if (this.#waiters.load() === 0) return;
    this.#notifies.add(1);
    this.#notifies.notify(count);
  }

  #forward(expected) {
    if (this.#notifies.load() !== expected) this.#notifies.notify(1);
  }
}
