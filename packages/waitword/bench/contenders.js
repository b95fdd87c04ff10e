// The compared locks, behind one interface. `words` is word 0 of shared memory.
import { AsyncLock } from '../src/index.js';
import { AsyncLock as TwoStates } from '/examples/article/two-state-lock.js';
import '/examples/article/three-state-lock.js';

const { ThreeStateLock } = globalThis;

/** By name. `lock` blocks; `unlock` releases; `run` runs a callback under the lock in an agent that must not block. */
export const contenders = {
  waitword: (words) => {
    const lock = new AsyncLock(words);
    return { lock: () => lock.lock(), unlock: () => lock.unlock(), run: (callback) => lock.executeLocked(callback) };
  },
  'article, two states': (words) => {
    const lock = new TwoStates(words.buffer);
    return { lock: () => lock.lock(), unlock: () => lock.unlock(), run: (callback) => lock.executeLocked(callback) };
  },
  'article, three states': (words) => {
    const lock = new ThreeStateLock(words.buffer);
    return { lock: () => lock.lock(), unlock: () => lock.unlock(), run: (callback) => lock.executeLocked(callback) };
  },
  'waitword, page spins': (words) => {
    const lock = new AsyncLock(words);
    const run = (callback) => {
      for (let guard; !(guard = lock.tryLock()) || (callback(), guard.release(), false); );
    };
    return { lock: () => lock.lock(), unlock: () => lock.unlock(), run };
  },
};
