const { workerData: words } = require("worker_threads");
const AsyncLock = require("./lock.js");
const lock = new AsyncLock(words, 0);
Atomics.store(words, 1, 1);
Atomics.notify(words, 1);
lock.lock();
lock.unlock();
