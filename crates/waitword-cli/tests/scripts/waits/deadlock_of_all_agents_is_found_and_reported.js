//@ code: 1
//@ stderr has: deadlock
//@ stderr has: worker 1: Atomics.wait on byte 0
//@ stderr has: worker 2: Atomics.wait on byte 4
//@ stderr has: main.js:6:

const { Worker, isMainThread, workerData: words } = require("worker_threads");
if (isMainThread) {
  const words = new Int32Array(new SharedArrayBuffer(8));
  for (const index of [0, 1]) new Worker(__filename, { workerData: words, argv: [index] });
} else {
  Atomics.wait(words, Number(process.argv[2]), 0);
}
