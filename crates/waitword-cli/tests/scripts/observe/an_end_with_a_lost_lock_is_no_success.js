// Without --observe nobody knows that it is a lock: lost_lock.js.
//@ flags: --observe
//@ code: 1
//2> note: ended: no agent is left that could notify these waits
//2> waitword: waitword (process N): 1 waiter at 1 lock
//2> AsyncLock at block 1 +0: held by worker 1 ([worker eval]:1:25), which ended T ago; 1 waits: main (main.js:4:39)
//2> AsyncLock at block 1 +0: 1 waiter
//2>   T held by worker 1, taken at [worker eval]:1:25, which ended T ago
//2>   T main main.js:4:39

const { Worker } = require("worker_threads");
const words = new Int32Array(new SharedArrayBuffer(4));
new Worker("Atomics.compareExchange(require('worker_threads').workerData, 0, 0, 1)", { eval: true, workerData: words })
  .on("exit", () => Atomics.waitAsync(words, 0, 1));
