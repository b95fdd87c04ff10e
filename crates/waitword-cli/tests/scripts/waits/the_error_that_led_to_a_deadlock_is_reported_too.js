//@ flags: --main-can-block
//@ code: 1
//@ stderr has: uncaught exception in worker 1
//@ stderr has: TypeError
//@ stderr has: deadlock
//@ stderr has: main: Atomics.wait on byte 0

const { Worker } = require("worker_threads");
new Worker("null.x", { eval: true });
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
