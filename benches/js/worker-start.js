// A worker that does nothing, from `new Worker` to its `exit` event; and one that posts a message, to that message.

import { Worker } from "node:worker_threads";
import { figure, median, quick, since } from "./support/report.js";

const WORKERS = quick ? 2 : 15;
const greeting = 'require("node:worker_threads").parentPort.postMessage("here")';

figure("to its exit", await each("", "exit"));
figure("to its first message", await each(greeting, "message"));

async function each(source, event) {
  const times = [];
  for (let i = 0; i < WORKERS; i++) {
    const start = performance.now();
    const worker = new Worker(source, { eval: true });
    const ended = new Promise((resolve, reject) => worker.once("exit", resolve).once("error", reject));
    await new Promise((resolve) => worker.once(event, resolve));
    times.push(since(start));
    // One at a time.
    await ended;
  }
  return median(times);
}
