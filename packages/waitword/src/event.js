// A notification, and one stored wakeup, on one 32-bit word:
//
//   bits 9 to 31: ROUND, the number of notifyAll      bits 1 to 8: wakeups, not taken yet      bit 0: WAITERS
//
// |           | no WAITERS                        | WAITERS                                                         |
// |-----------|-----------------------------------|-----------------------------------------------------------------|
// | step      | another round: done. A wakeup: takes it, + WAITERS. Else + WAITERS: wait      | the same, wait      |
// | notifyOne | wakeups = 1: stored               | wakeups + 1, notify one; if nobody was queued, no WAITERS |
// | notifyAll | ROUND + 1                         | ROUND + 1, no WAITERS; notify all                               |
// | forward   | as notifyOne from its notify on; without a wakeup, + WAITERS                    | the same            |
//
// A wakeup lies in the word until a waiter takes it. Handing it to a queued waiter instead would need two steps, notify and, if
// nobody was queued, store; a waiter could enqueue between them, and sleep beside it:
//
//   notifier                          B
//   ──────────────────────────────    ──────────────────────────────
//   notify: nobody is queued
//                                     no wakeup stored: wait
//   stores a wakeup                   sleeps
//
// Waiters enqueue only while there is no wakeup in the word. So while there is one, a notify that finds the queue empty knows that
// it stays empty, and may clear WAITERS.
//
// Without WAITERS, wakeups that nobody takes count as one.
import { DONE, Waits } from './waits.js';
import { Word, wordsAt } from './word.js';

const WAITERS = 1;
const WAKEUP = 1 << 1;
const WAKEUPS = 0xff << 1;
const ROUND = 1 << 9;
const ROUNDS = -ROUND;

const NAMES = ['wait', 'waitAsync'];

export class Event {
  /** How many words an event takes. */
  static WORDS = 1;

  #word;
  #waits;

  constructor(target, index = 0) {
    this.#word = new Word(wordsAt(target, index, Event.WORDS, 'Event'), index);
    this.#waits = new Waits(this.#word, { forward: (_, absorbed) => absorbed || this.#forward() });
  }

  get buffer() {
    return this.#word.buffer;
  }

  get isStored() {
    return (this.#word.load() & WAKEUPS) !== 0;
  }

  tryWait() {
    return this.#word.change((value) => (value & WAKEUPS ? value - WAKEUP : undefined)) !== undefined;
  }

  wait(options) {
    return this.#waits.block(this.#stepper(), options, NAMES);
  }

  async waitAsync(options) {
    return this.#waits.async(this.#stepper(), options);
  }

  notifyOne() {
    // Writes also where a wakeup is stored already: the caller may have changed what the waiter is about to read.
    const before = this.#word.change((value) => {
      if (value & WAITERS && (value & WAKEUPS) !== WAKEUPS) return value + WAKEUP;
      return value & WAKEUPS ? value : value + WAKEUP;
    });
    if (before & WAITERS) this.#wake();
  }

  notifyAll() {
    const before = this.#word.change((value) => ((value & ~WAITERS) + ROUND) | 0);
    if (before & WAITERS) this.#word.notify();
  }

  #stepper() {
    const round = this.#word.load() & ROUNDS;
    let waited = 0; // a waiter that waited cannot know whether there are more behind it
    return () => {
      let expected;
      this.#word.change((value) => {
        expected = DONE;
        if ((value & ROUNDS) !== round) return undefined;
        if (value & WAKEUPS) return (value - WAKEUP) | waited;
        expected = value | WAITERS;
        return expected;
      });
      waited = WAITERS;
      return expected;
    };
  }

  #wake() {
    if (this.#word.notify(1) > 0) return;
    this.#word.change((value) => (value & WAKEUPS ? value & ~WAITERS : undefined));
  }

  #forward() {
    const before = this.#word.change((value) => (value & WAKEUPS ? undefined : value | WAITERS));
    if (before === undefined) this.#wake();
  }
}
