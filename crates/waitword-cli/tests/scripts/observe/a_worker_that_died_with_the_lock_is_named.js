//@ flags: --observe
//@ code: 1
//2> error: deadlock: no agent can continue
//2> waitword: waitword (process N): 2 waiters at 1 lock
//2> AsyncLock at block 1 +64: held by worker 1 (holder.js:3:31), which ended T ago; 2 wait: main (main.js:6:8), worker 2 (waiter.js:3:31)
//2> AsyncLock at block 1 +64: 2 waiters
//2>   T held by worker 1, taken at holder.js:3:31, which ended T ago
//2>   T main main.js:6:8
//2>   T worker 2 waiter.js:3:31

const { Worker } = require("worker_threads");
const AsyncLock = require("./support/lock.js");
const words = new Int32Array(new SharedArrayBuffer(128));
const lock = new AsyncLock(words, 16);
new Worker("./holder.js", { workerData: words }).on("exit", () => {
  lock.lockAsync().then(() => console.log("never"));
  new Worker("./waiter.js", { workerData: words });
});
//@ file: holder.js
const { workerData } = require("worker_threads");
const AsyncLock = require("./support/lock.js");
new AsyncLock(workerData, 16).lock();
process.exit(3);
//@ file: waiter.js
const { workerData } = require("worker_threads");
const AsyncLock = require("./support/lock.js");
new AsyncLock(workerData, 16).lock();
