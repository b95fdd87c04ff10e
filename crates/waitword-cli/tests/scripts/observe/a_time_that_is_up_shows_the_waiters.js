//@ flags: --observe --timeout 5
//@ code: 124
//@ stderr has: error: timed out
//@ stderr has: word at block 1 +0: 1 waiter
//@ stderr has: worker 1  [worker eval]:1:14

const { Worker } = require("worker_threads");
const words = new Int32Array(new SharedArrayBuffer(4));
new Worker("Atomics.wait(require('worker_threads').workerData, 0, 0)", { eval: true, workerData: words });
setInterval(() => {}, 1000);
