const { Worker } = require("worker_threads");
const AsyncLock = require("./lock.js");
const words = new Int32Array(new SharedArrayBuffer(8));
const lock = new AsyncLock(words, 0);
lock.take();
Atomics.waitAsync(words, 1, 0).value.then(() => lock.unlock());
new Worker("./worker.js", { workerData: words });
