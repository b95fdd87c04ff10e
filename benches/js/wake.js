// One promise: `waitAsync`, a `notify` by the same agent, and `await`.

import { figure, quick, since } from "./support/report.js";

const word = new Int32Array(new SharedArrayBuffer(4));
const ROUNDS = quick ? 10 : 1_000;
const BURSTS = quick ? 2 : 100;

let fastest = Infinity;
for (let burst = 0; burst < BURSTS; burst++) {
  const start = performance.now();
  for (let i = 0; i < ROUNDS; i++) {
    const { value } = Atomics.waitAsync(word, 0, 0);
    Atomics.notify(word, 0);
    if ((await value) !== "ok") throw new Error("not notified");
  }
  fastest = Math.min(fastest, since(start) / ROUNDS);
}
figure("waitAsync, notify, await", fastest);
