// The words of shared memory of a lock, checked when it is created, and the operations on one of them.
import { waitAsync } from './wait_async.js';

/** One word of shared memory, with the operations of `Atomics` on it. */
export class Word {
  #words;
  #index;

  constructor(words, index) {
    this.#words = words;
    this.#index = index;
  }

  get buffer() {
    return this.#words.buffer;
  }

  load() {
    return Atomics.load(this.#words, this.#index);
  }

  add(value) {
    return Atomics.add(this.#words, this.#index, value);
  }

  exchange(value) {
    return Atomics.exchange(this.#words, this.#index, value);
  }

  compareExchange(expected, value) {
    return Atomics.compareExchange(this.#words, this.#index, expected, value);
  }

  /** Changes the word to `next(word)` atomically. Returns its previous value. If `next` returns undefined, changes nothing and returns undefined. */
  change(next) {
    for (let value = this.load(); ; ) {
      const changed = next(value);
      if (changed === undefined) return undefined;
      const before = this.compareExchange(value, changed);
      if (before === value) return before;
      value = before;
    }
  }

  wait(expected, timeout) {
    return Atomics.wait(this.#words, this.#index, expected, timeout);
  }

  waitAsync(expected) {
    return waitAsync(this.#words, this.#index, expected);
  }

  notify(count) {
    return Atomics.notify(this.#words, this.#index, count);
  }
}

/** The memory of a lock's words, `count` of them from `index` on. If the target is `undefined`, allocates new memory. */
export function wordsAt(target, index, count, name) {
  const words = view(target, count, name);
  if (!Number.isInteger(index) || index < 0 || index + count > words.length) {
    const needs = count === 1 ? 'a word' : `${count} words`;
    throw new RangeError(`${name} needs ${needs} at index ${String(index)}, but the memory has ${words.length} words of 4 bytes`);
  }
  return words;
}

function view(target, count, name) {
  if (target === undefined && typeof SharedArrayBuffer === 'function') target = new SharedArrayBuffer(4 * count);
  if (target instanceof Int32Array && isShared(target.buffer)) return target;
  if (isShared(target)) return new Int32Array(target, 0, target.byteLength >> 2);
  throw new TypeError(
    typeof SharedArrayBuffer === 'function'
      ? `${name} needs shared memory: pass a SharedArrayBuffer or an Int32Array on one (other agents cannot access an ArrayBuffer)`
      : `${name} needs shared memory: serve the page with the headers "Cross-Origin-Opener-Policy: same-origin" and ` +
        `"Cross-Origin-Embedder-Policy: require-corp"`,
  );
}

// Compares the tag, because the buffer may be of another realm, and WebAssembly may have shared memory while the global constructor is missing.
const isShared = (buffer) => Object.prototype.toString.call(buffer) === '[object SharedArrayBuffer]';
