//@ flags: --observe
//@ code: 1
//2> error: deadlock: no agent can continue
//2> waitword: waitword (process N): 1 waiter at 1 lock
//2> nothing found
//2> word at block 1 +4: 1 waiter
//2>   T last changed by main at main.js:3:15
//2>   T last notified by main at main.js:4:16, found no waiter
//2>   T worker 1 [worker eval]:1:64

const { Worker } = require("worker_threads");
const words = new Int32Array(new SharedArrayBuffer(8));
Atomics.store(words, 1, 0);
Atomics.notify(words, 1);
new Worker("const { workerData } = require('worker_threads'); Atomics.wait(workerData, 1, 0);", { eval: true, workerData: words });
