// Where a lock lies: words of shared memory, checked once.

/** The words of a lock: `count` of them from `index` on. `undefined` as target makes memory of its own. */
export function wordsAt(target, index, count, name) {
  const words = view(target, count, name);
  if (!Number.isInteger(index) || index < 0 || index + count > words.length) {
    const needs = count === 1 ? 'a word' : `${count} words`;
    throw new RangeError(`${name} needs ${needs} at index ${String(index)}, and the memory has ${words.length} words of 4 bytes`);
  }
  return words;
}

function view(target, count, name) {
  if (target === undefined && typeof SharedArrayBuffer === 'function') target = new SharedArrayBuffer(4 * count);
  if (target instanceof Int32Array && isShared(target.buffer)) return target;
  if (isShared(target)) return new Int32Array(target, 0, target.byteLength >> 2);
  throw new TypeError(
    typeof SharedArrayBuffer === 'function'
      ? `${name} needs shared memory: pass a SharedArrayBuffer, or an Int32Array on one (nobody else can see an ArrayBuffer)`
      : `${name} needs shared memory: serve the page with the headers "Cross-Origin-Opener-Policy: same-origin" and ` +
        `"Cross-Origin-Embedder-Policy: require-corp"`,
  );
}

// By its tag, because it may come from another realm, and the global may be missing while memory of WebAssembly is there.
const isShared = (buffer) => Object.prototype.toString.call(buffer) === '[object SharedArrayBuffer]';
