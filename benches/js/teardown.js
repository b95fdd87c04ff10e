// An agent is terminated: one with a thousand pending waits, while nobody else waits and while another agent has a million
// on the same words; and the one with the million, while others wait.

import { Worker } from "node:worker_threads";
import { figure, keepAlive, median, quick, since } from "./support/report.js";

const MILLION = quick ? 1000 : 1_000_000;
const FEW = quick ? 10 : 1000;
const REPEATS = quick ? 1 : 7;
const WORDS = 64;

const waiter = `
  const { parentPort, workerData: { words, n } } = require("node:worker_threads");
  for (let i = 0; i < n; i++) Atomics.waitAsync(words, i % words.length, 0);
  parentPort.postMessage("waits");
  // Where a pending wait does not keep its agent, a port does.
  parentPort.on("message", () => {});
`;

const words = new Int32Array(new SharedArrayBuffer(4 * WORDS));
const release = keepAlive();

async function start(n) {
  const worker = new Worker(waiter, { eval: true, workerData: { words, n } });
  await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
  return worker;
}

async function end(worker) {
  const start = performance.now();
  await worker.terminate();
  return since(start);
}

async function few() {
  const times = [];
  for (let i = 0; i < REPEATS; i++) times.push(await end(await start(FEW)));
  return median(times);
}

figure("of a thousand waits, others have", await few(), { n: 0 });
const crowd = await start(MILLION);
figure("of a thousand waits, others have", await few(), { n: MILLION });
const other = await start(FEW);
figure("of a million waits, others have", await end(crowd), { n: FEW });
let left = 0;
for (let i = 0; i < WORDS; i++) left += Atomics.notify(words, i);
if (left !== FEW) throw new Error(`${left} waits were left, not ${FEW}`);
await other.terminate();
release();
