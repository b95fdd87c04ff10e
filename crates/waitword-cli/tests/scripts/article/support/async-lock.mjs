// The class that the scripts `mutex-*.mjs` check. tests/article/listing_runs.rs runs them once more in a folder in which this file is
// the article's own listing, so they use what both have: `lock`, `unlock`, `executeLocked`, and the word, 0 or 1.
export { AsyncLock } from '../../../../../../examples/article/two-state-lock.js';

export const UNLOCKED = 0;
export const LOCKED = 1;
