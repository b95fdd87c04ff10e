// What pending waits hold of memory, as the operating system sees it, and what is still held when all were notified.

import { grown, keepAlive, mark, quick } from "./report.js";

const N = quick ? 1000 : 1_000_000;

export async function memory(timeout) {
  const word = new Int32Array(new SharedArrayBuffer(4));
  const release = keepAlive();
  // Whatever is loaded at the first use, is no wait's.
  const wait = () => Atomics.waitAsync(word, 0, 0, timeout).value;
  const first = wait();
  Atomics.notify(word, 0);
  await first;
  mark("before");
  // Only the agent that settles the promises holds them.
  for (let i = 0; i < N; i++) wait();
  grown("per pending wait", "before", N);
  const last = wait();
  if (Atomics.notify(word, 0) !== N + 1) throw new Error("not all were notified");
  await last;
  // Whatever is to be done after the last one.
  await new Promise((resolve) => setTimeout(resolve, 10));
  grown("per wait, after all were notified", "before", N);
  release();
}
