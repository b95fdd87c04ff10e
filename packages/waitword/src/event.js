// A notification, and one stored wakeup, on two 32-bit words. Who waits sleeps on the first:
//
//   bits 0 to 11: how many wait      bits 12 to 23: wakeups, not taken yet      bits 24 to 31: LAP, changes with each notifyAll
//
// and the second counts the notifyAll.
//
// |           | what it does to the words                                                                        |
// |-----------|--------------------------------------------------------------------------------------------------|
// | begin     | waiters + 1; remembers LAP and the count of notifyAll                                            |
// | step      | if either has changed: done. A wakeup: takes it, waiters - 1, done. Else waits                   |
// | leave     | waiters - 1, and one wakeup less if there would be more than one to store                        |
// | notifyOne | wakeups + 1 if that leaves one at most to store; if there are waiters, notify one                |
// | notifyAll | if there are waiters: count + 1; then LAP + 1, no waiters, one wakeup at most; notify all        |
// | forward   | if there is a wakeup, notify one                                                                 |
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
// Waiters are counted because those that are not queued need their wakeups, too: one that rechecks, one whose wakeup another caller
// took before the agent ran, and all but the first of an agent without `Atomics.waitAsync`. There are never more wakeups than waiters
// and one: that one is stored, and without waiters several notifies count as one. A waiter whose worker was terminated counts until
// the next notifyAll.
//
// LAP is part of what a waiter sleeps on, so it cannot fall asleep after a notifyAll that it has not seen. It is too short to tell one
// notifyAll from another by: an agent may stand still during 256 of them. The second word tells, and is changed first:
//
//   waiter                                notifier
//   ──────────────────────────────────    ──────────────────────────────────
//   reads the first word
//   the second has not changed
//                                         count + 1; LAP + 1; notify all
//   wait(what it read): 'not-equal'
import { DONE, Waits, blockOptions, waitOptions } from './waits.js';
import { Word, wordsAt } from './word.js';

const WAITER = 1;
const WAITERS = 0xfff;
const WAKEUP = 1 << 12;
const WAKEUPS = 0xfff << 12;
const LAP = 1 << 24;
const LAPS = -LAP;
const MAX_WAITERS = 4094; // with one wakeup more than waiters, both numbers fit
const NAMES = ['wait', 'waitAsync'];

const waiters = (value) => value & WAITERS;
const wakeups = (value) => (value & WAKEUPS) / WAKEUP;

export class Event {
  static MAX_WAITERS = MAX_WAITERS;
  /** How many words an event takes. */
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
    // Writes also where a wakeup is stored already: the caller may have changed what the waiter is about to read.
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
      if (waiters(value) === MAX_WAITERS) throw new RangeError(`an event has ${MAX_WAITERS} waiters at most`);
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
