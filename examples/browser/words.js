// The words that the page and its workers share, by index: as in rust/src/lib.rs.
export const RUN = 0; // 0: the workers pause
export const LOCKED = 1; // 0: without the lock
export const COUNTER = 2; // plain: a load, some time, a store
export const INSIDE = 3; // how long a count takes, in rounds of a loop
export const OUTSIDE = 4; // for how many microseconds a worker rests between two counts
export const SLOW = 5; // for how many milliseconds the slow worker holds the lock, once a second
export const HOLDS_LONG = 6; // how often the slow worker has begun that, and ended it: odd while it lasts
export const STATE = 8; // what each agent does
export const SLOW_WORKER = 4; // the number of the slow worker: the last one
export const COUNT = 16; // how often each agent has counted
export const LOCK = 32; // where there is no wasm, the lock; else that is at `lockIndex()`
export const WORDS = 64;

export const PAUSES = 0;
export const WORKS = 1;
export const WAITS = 2;
export const HOLDS = 3;

/** Two of these at once lose a count. */
export function increment(words, time) {
  const seen = words[COUNTER];
  for (let i = 0; i < time; i++) sink = (sink + i) | 0;
  words[COUNTER] = seen + 1;
}

let sink = 0;
