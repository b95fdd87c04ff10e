// A parent that never asks pays for no copies, and one that blocks first for few.
//@ flags: --main-can-block --memory-limit 4M
//@ stdout: any
//@ stderr has: exit 0\n

const { Worker } = require("worker_threads");
const done = new Int32Array(new SharedArrayBuffer(4));
const source = `const { workerData } = require("worker_threads");
  for (let at = 0; at < 300; at++) console.log("x".repeat(100_000));
  workerData[0] = 1; Atomics.notify(workerData, 0);`;
const worker = new Worker(source, { eval: true, workerData: done });
Atomics.wait(done, 0, 0);
worker.on("exit", (code) => console.error("exit", code));
