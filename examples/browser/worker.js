// A worker: counts under the lock until it is told to pause, in JavaScript or in Rust. It blocks for the lock.
import { AsyncLock } from '/waitword/src/index.js';
import { COUNT, HOLDS, HOLDS_LONG, INSIDE, LOCKED, OUTSIDE, PAUSES, RUN, SLOW, SLOW_WORKER, STATE, WAITS, WORKS, increment } from './words.js';

onmessage = async ({ data: { number, words, lockWords, lockIndex, rust } }) => {
  const hammer = rust ? await loadRust(rust) : (number) => hammerInScript(number, words, new AsyncLock(lockWords, lockIndex));
  postMessage('ready');
  for (;;) {
    Atomics.store(words, STATE + number, PAUSES);
    Atomics.notify(words, STATE + number);
    Atomics.wait(words, RUN, 0);
    hammer(number);
  }
};

async function loadRust({ url, module, memory }) {
  const wasm = await import(url);
  await wasm.default({ module_or_path: module, memory, thread_stack_size: 65_536 }); // a stack and thread-locals of its own
  wasm.begin();
  return wasm.hammer;
}

function hammerInScript(number, words, lock) {
  let slowAt = performance.now() + 250;
  while (Atomics.load(words, RUN)) {
    const locked = Atomics.load(words, LOCKED);
    Atomics.store(words, STATE + number, WAITS);
    const guard = locked ? lock.lock() : null;
    Atomics.store(words, STATE + number, HOLDS);
    increment(words, words[INSIDE]);
    Atomics.add(words, COUNT + number, 1);
    const isSlow = number === SLOW_WORKER && locked && words[SLOW] > 0 && performance.now() > slowAt;
    if (isSlow) {
      Atomics.add(words, HOLDS_LONG, 1);
      rest(1000 * words[SLOW]);
      Atomics.add(words, HOLDS_LONG, 1);
      slowAt = performance.now() + 1000;
    }
    Atomics.store(words, STATE + number, WORKS);
    guard?.release();
    rest(words[OUTSIDE]);
  }
}

const nothing = new Int32Array(new SharedArrayBuffer(4));

/** Sleeps. The wasm imports it as a global. */
function rest(microseconds) {
  Atomics.wait(nothing, 0, 0, microseconds / 1000);
}
globalThis.rest = rest;
