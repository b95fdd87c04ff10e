// What `waitword run --observe` costs a script: run it with and without that option. A lock on a word is what is recorded:
// who took it, and at which line; so are waits and notifies.

import { Worker } from "node:worker_threads";
import { figure, median, quick } from "../support/report.js";

const CALLS = quick ? 100 : 20_000;
const BURSTS = quick ? 2 : 50;
const ROUNDS = quick ? 20 : 50_000;

function lock(words) {
  while (Atomics.compareExchange(words, 0, 0, 1) !== 0) Atomics.wait(words, 0, 1);
}

function unlock(words) {
  Atomics.store(words, 0, 0);
  Atomics.notify(words, 0, 1);
}

function alone(words) {
  for (let i = 0; i < CALLS; i++) {
    lock(words);
    unlock(words);
  }
}

function nobody(words) {
  for (let i = 0; i < CALLS; i++) Atomics.notify(words, 1, 1);
}

const words = new Int32Array(new SharedArrayBuffer(16));
for (const [name, run] of Object.entries({ "lock and unlock": alone, "notify, nobody waits": nobody })) {
  const each = [];
  for (let burst = 0; burst < BURSTS; burst++) {
    const start = performance.now();
    run(words);
    each.push(((performance.now() - start) * 1e6) / CALLS);
  }
  figure(name, median(each));
}

// Four workers take one lock, and count under it.
const player = `
  const { parentPort, workerData: { words, rounds } } = require("node:worker_threads");
  ${lock} ${unlock}
  const start = performance.now();
  for (let i = 0; i < rounds; i++) { lock(words); words[2]++; unlock(words); }
  parentPort.postMessage(((performance.now() - start) * 1e6) / rounds);
`;
const workerData = { words, rounds: ROUNDS };
const hear = (worker) => new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
const all = await Promise.all([0, 1, 2, 3].map(() => hear(new Worker(player, { eval: true, workerData }))));
if (words[2] !== 4 * ROUNDS) throw new Error(`${words[2]} of ${4 * ROUNDS}`);
figure("a lock of four workers", Math.max(...all), { n: 4 });
