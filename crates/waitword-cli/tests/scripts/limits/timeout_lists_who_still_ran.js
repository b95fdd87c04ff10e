// Each agent is listed when the time is up: one that runs, one that blocks, one that has nothing but timers or messages to come.
//@ flags: --timeout 3
//@ code: 124
//@ stderr has: main: still running
//@ stderr has: worker 1: still running
//@ stderr has: worker 2: Atomics.wait on byte 0
//@ stderr lacks: worker 2: still
//@ stderr has: worker 3: sleeps until a timer or a message
//@ stderr has: worker 4: Atomics.wait with a timeout

const { Worker } = require("worker_threads");
const word = new Int32Array(new SharedArrayBuffer(4));
for (const source of [
  "for (;;);",
  "Atomics.wait(require('worker_threads').workerData, 0, 0)",
  "setInterval(() => {}, 10_000)",
  "Atomics.wait(require('worker_threads').workerData, 0, 0, 1e9)",
]) new Worker(source, { eval: true, workerData: word });
for (;;);
