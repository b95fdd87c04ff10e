// A condition variable for an AsyncLock, on one 32-bit word on which waiters sleep: twice the number of notifies, plus WAITERS (1) if there may
// be waiters.
//
// |           | no WAITERS          | WAITERS                                                                    |
// |-----------|---------------------|----------------------------------------------------------------------------|
// | wait      | + WAITERS: wait     | wait                                                                       |
// | notifyOne | –                   | notifies + 1, notify one; if nobody was queued, notifyAll                  |
// | notifyAll | –                   | notifies + 1, no WAITERS; notify all                                       |
//
// A waiter reads the word and marks it while it holds the lock. A notifier acquires the lock afterwards and changes the word, so a notify before
// the waiter sleeps is not missed:
//
//   waiter (holds the lock)               notifier
//   ──────────────────────────────────    ──────────────────────────────────
//   7 notifies: marks; unlock
//                                         lock; changes the condition; unlock
//                                         marked: 8 notifies, notify(1)
//   wait(7, marked): 'not-equal'
//
// WAITERS is cleared only together with a change of the number, and all waiters that sleep on the old number are woken. So a waiter that finds its
// own number also finds the mark. Waiters are not counted, because one whose worker was terminated would be counted for ever.
//
// # A waiter that is terminated
// An engine may keep it in the queue, where it consumes a notify that is meant for another waiter. So a waiter rechecks after LONGEST_STALL_TIMEOUT,
// and ends if there was a notify since its wait began. It cannot know whether that notify was for another waiter.
//
// # What is forwarded
// A wakeup is for waiters that began to wait before it. A later waiter sees its own number in the word, steps, and sleeps again, and the wakeup is
// forwarded. Forwarding ends when the wakeup reaches an entry that was made with the present number, because the entries behind are no older. So it
// ends even if the entries of all agents are too young.
//
// There is no requeue onto the lock: a notified waiter acquires the lock as any other acquirer does.
import { DONE, LONGEST_STALL_TIMEOUT, Waits, blockOptions, checkMayBlock, shown, waitOptions } from './waits.js';
import { Word, wordsAt } from './word.js';

const WAITERS = 1;
const NOTIFY = 2;
const NAMES = ['wait', 'waitAsync'];

export class Condition {
  /** The number of words of a condition. */
  static WORDS = 1;

  #word;
  #waits;

  constructor(target, index = 0) {
    this.#word = new Word(wordsAt(target, index, Condition.WORDS, 'Condition'), index);
    this.#waits = new Waits(this.#word, { forward: (expected) => this.#forward(expected), interval: LONGEST_STALL_TIMEOUT });
  }

  get buffer() {
    return this.#word.buffer;
  }

  wait(lock, options) {
    // Check before the lock is released.
    checkMayBlock(NAMES);
    const end = blockOptions(options, NAMES);
    const step = this.#begin(lock);
    try {
      return this.#waits.block(step, end, NAMES);
    } finally {
      lock.lock();
    }
  }

  async waitAsync(lock, options) {
    const end = waitOptions(options);
    const step = this.#begin(lock);
    try {
      return await this.#waits.async(step, end);
    } finally {
      await lock.lockAsync(); // also when it was aborted: the caller's `finally` unlocks
    }
  }

  notifyOne() {
    const before = this.#word.change((value) => (value & WAITERS ? (value + NOTIFY) | 0 : undefined));
    if (before !== undefined && this.#word.notify(1) === 0) this.notifyAll();
  }

  notifyAll() {
    const before = this.#word.change((value) => (value & WAITERS ? ((value & ~WAITERS) + NOTIFY) | 0 : undefined));
    if (before !== undefined) this.#word.notify();
  }

  #begin(lock) {
    if (typeof lock?.unlock !== 'function' || typeof lock.lockAsync !== 'function') {
      throw new TypeError(`the lock of a condition must be an AsyncLock, not ${shown(lock)}`);
    }
    const seen = this.#word.change((value) => value | WAITERS) | WAITERS;
    try {
      lock.unlock();
    } catch (cause) {
      throw new Error('wait on a condition without its lock held: acquire the lock first', { cause });
    }
    return () => (this.#word.load() === seen ? seen : DONE);
  }

  #forward(expected) {
    if (this.#word.load() !== expected) this.#word.notify(1);
  }
}
