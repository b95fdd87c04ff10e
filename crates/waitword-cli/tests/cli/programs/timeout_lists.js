const { Worker } = require("worker_threads");
const word = new Int32Array(new SharedArrayBuffer(4));
for (const source of [
  "for (;;);",
  "Atomics.wait(require('worker_threads').workerData, 0, 0)",
  "setInterval(() => {}, 10_000)",
  "Atomics.wait(require('worker_threads').workerData, 0, 0, 1e9)",
]) new Worker(source, { eval: true, workerData: word });
for (;;);
