// Many promises on one word: made, notified at once, and awaited together.

import { figure, keepAlive, median, quick, since } from "./report.js";

/** `timeout`, in milliseconds, never passes. Prints after each size, so that one that takes too long hides no other. */
export async function crowds(timeout) {
  for (const [n, repeats] of quick ? [[100, 2], [1000, 1]] : [[20_000, 7], [1_000_000, 1]]) {
    const runs = [];
    for (let run = 0; run < repeats; run++) runs.push(await crowd(n, timeout));
    for (const name of Object.keys(runs[0])) figure(name, median(runs.map((run) => run[name])) / n, { n });
  }
}

async function crowd(n, timeout) {
  const word = new Int32Array(new SharedArrayBuffer(4));
  const release = keepAlive();
  const promises = new Array(n);
  const start = performance.now();
  for (let i = 0; i < n; i++) promises[i] = Atomics.waitAsync(word, 0, 0, timeout).value;
  const made = since(start);
  const notifying = performance.now();
  if (Atomics.notify(word, 0) !== n) throw new Error("not all were notified");
  const outcomes = await Promise.all(promises);
  const settled = since(notifying);
  release();
  if (!outcomes.every((outcome) => outcome === "ok")) throw new Error("not all are ok");
  return { "make each": made, "notify and settle each": settled, "altogether, each": made + settled };
}
