const { workerData: words } = require("worker_threads");
Atomics.wait(words, 2, 1);
