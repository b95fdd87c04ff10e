//@ flags: --observe
//@ code: 1
//@ stderr has: deadlock: 2 members, youngest wait T
//@ stderr has: worker 1 waits T for AsyncLock at block 1 +4
//@ stderr has: worker 2 waits T for AsyncLock at block 1 +0

const { Worker } = require("worker_threads");
const words = new Int32Array(new SharedArrayBuffer(16));
for (const order of [[0, 1], [1, 0]]) new Worker("./worker.js", { workerData: { words, order } });
//@ file: worker.js
const { workerData: { words, order: [first, second] } } = require("worker_threads");
const AsyncLock = require("./support/lock.js");
new AsyncLock(words, first).lock();
Atomics.add(words, 2, 1);
Atomics.notify(words, 2);
for (let arrived; (arrived = Atomics.load(words, 2)) < 2;) Atomics.wait(words, 2, arrived);
new AsyncLock(words, second).lock();
