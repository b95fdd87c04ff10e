// Blocks for the lock, counts, and rests, in a loop, until the STOP word is set. One worker holds the lock for 100 ms now and then.
import { contenders } from './contenders.js';

const [STOP, COUNTER] = [1, 2];
const nothing = new Int32Array(new SharedArrayBuffer(4));
const rest = (milliseconds) => Atomics.wait(nothing, 0, 0, milliseconds);

onmessage = ({ data: { name, words, isSlow } }) => {
  const lock = contenders[name](words);
  let count = 0;
  let longest = 0;
  let slowAt = performance.now() + 500;
  while (!Atomics.load(words, STOP)) {
    const asked = performance.now();
    lock.lock();
    const had = performance.now();
    longest = Math.max(longest, had - asked);
    words[COUNTER]++;
    if (isSlow && had > slowAt) {
      rest(100);
      slowAt = had + 1000;
    }
    lock.unlock();
    count++;
    if (count % 16 === 0) rest(0.05); // or who blocks would hardly ever get in
  }
  postMessage({ count, longest });
};
