//@ stderr: any

const { Worker } = require("worker_threads");
const words = new Int32Array(new SharedArrayBuffer(4));
new Worker("Atomics.compareExchange(require('worker_threads').workerData, 0, 0, 1)", { eval: true, workerData: words })
  .on("exit", () => Atomics.waitAsync(words, 0, 1));
