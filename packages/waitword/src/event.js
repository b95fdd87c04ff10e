// An event with one stored wakeup, on two 32-bit words. Waiters sleep on the first word:
//
//   bits 0 to 11: number of waiters  bits 12 to 23: wakeups, not consumed yet   bits 24 to 31: LAP, changes with each notifyAll
//
// The second word counts the calls of notifyAll.
//
// |           | effect on the words                                                                              |
// |-----------|--------------------------------------------------------------------------------------------------|
// | begin     | waiters + 1; remembers LAP and the count of notifyAll                                            |
// | step      | if either has changed: done. A wakeup: takes it, waiters - 1, done. Else waits                   |
// | leave     | waiters - 1, and one wakeup less if there would be more than one to store                        |
// | notifyOne | wakeups + 1 if that leaves one at most to store; if there are waiters, notify one                |
// | notifyAll | if there are waiters: count + 1; then LAP + 1, no waiters, one wakeup at most; notify all        |
// | forward   | if there is a wakeup, notify one                                                                 |
//
// A wakeup stays in the word until a waiter consumes it. Passing it to a queued waiter directly would need two steps: notify, and store if
// nobody was queued. A waiter could enqueue between them, and sleep although a wakeup is stored:
//
//   notifier                          B
//   ──────────────────────────────    ──────────────────────────────
//   notify: nobody is queued
//                                     no wakeup stored: wait
//   stores a wakeup                   sleeps
//
// Waiters are counted because waiters that are not in the engine's queue need wakeups too: one that rechecks, one whose wakeup another caller
// consumed before the agent ran, and all but the first of an agent without `Atomics.waitAsync`. There is at most one wakeup more than there are
// waiters: the stored one. So without waiters, several notifies count as one. A waiter whose worker was terminated is counted until the next
// notifyAll.
//
// LAP is part of the value on which a waiter sleeps, so a waiter cannot fall asleep after a notifyAll that it has not seen. LAP alone is too short
// to recognize a notifyAll, because an agent may be stopped during 256 of them. The second word decides, and is changed first:
//
//   waiter                                notifier
//   ──────────────────────────────────    ──────────────────────────────────
//   reads the first word
//   the second has not changed
//                                         count + 1; LAP + 1; notify all
//   wait(value read): 'not-equal'
import { DONE, Waits, blockOptions, waitOptions } from './waits.js';
import { Word, wordsAt } from './word.js';

const WAITER = 1;
const WAITERS = 0xfff;
const WAKEUP = 1 << 12;
const WAKEUPS = 0xfff << 12;
const LAP = 1 << 24;
const LAPS = -LAP;
const MAX_WAITERS = 4094; // so that one wakeup more than waiters fits into 12 bits
const NAMES = ['wait', 'waitAsync'];

const waiters = (value) => value & WAITERS;
const wakeups = (value) => (value & WAKEUPS) / WAKEUP;

export class Event {
  static MAX_WAITERS = MAX_WAITERS;
  /** The number of words of an event. */
  static WORDS = 2;

  #word;
  #rounds;
  #waits;

  constructor(target, index = 0) {
    const words = wordsAt(target, index, Event.WORDS, 'Event');
    this.#word = new Word(words, index);
    this.#rounds = new Word(words, index + 1);
    this.#waits = new Waits(this.#word, { forward: (_, absorbed) => absorbed || this.#forward() });
  }

  get buffer() {
    return this.#word.buffer;
  }

  get isStored() {
    return wakeups(this.#word.load()) > 0;
  }

  tryWait() {
    return this.#word.change((value) => (wakeups(value) > 0 ? value - WAKEUP : undefined)) !== undefined;
  }

  wait(options) {
    const end = blockOptions(options, NAMES);
    const { step, leave } = this.#begin();
    try {
      return this.#waits.block(step, end, NAMES);
    } finally {
      leave();
    }
  }

  async waitAsync(options) {
    const end = waitOptions(options);
    const { step, leave } = this.#begin();
    return this.#waits.async(step, end, leave);
  }

  notifyOne() {
    // Writes the word even if a wakeup is stored already: the caller may have changed data that the waiter is about to read.
    const before = this.#word.change((value) => (wakeups(value) <= waiters(value) ? value + WAKEUP : value));
    if (waiters(before) > 0) this.#word.notify(1);
  }

  notifyAll() {
    if (waiters(this.#word.load()) === 0) return;
    this.#rounds.add(1);
    this.#word.change((value) => ((value & LAPS) + LAP) | (wakeups(value) > 0 ? WAKEUP : 0));
    this.#word.notify();
  }

  #begin() {
    const before = this.#word.change((value) => {
      if (waiters(value) === MAX_WAITERS) throw new RangeError(`too many waiters: an event can have ${MAX_WAITERS} waiters at a time`);
      return value + WAITER;
    });
    const lap = before & LAPS;
    const round = this.#rounds.load();
    let counts = true;
    const isOver = (value) => (value & LAPS) !== lap || this.#rounds.load() !== round;
    const step = () => {
      for (;;) {
        const value = this.#word.load();
        const over = isOver(value);
        if (!over && wakeups(value) === 0) return value;
        if (!over && this.#word.compareExchange(value, value - WAKEUP - WAITER) !== value) continue;
        counts = false;
        return DONE;
      }
    };
    const leave = () => {
      if (!counts) return;
      counts = false;
      this.#word.change((value) => {
        if (isOver(value)) return undefined;
        const left = value - WAITER;
        return wakeups(left) > waiters(left) + 1 ? left - WAKEUP : left;
      });
    };
    return { step, leave };
  }

  #forward() {
    if (this.#word.load() & WAKEUPS) this.#word.notify(1);
  }
}
