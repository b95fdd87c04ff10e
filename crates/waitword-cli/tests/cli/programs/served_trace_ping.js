const { workerData: words } = require("worker_threads");
for (;;) {
  Atomics.store(words, 0, 1);
  Atomics.notify(words, 0);
  Atomics.wait(words, 0, 1);
  Atomics.wait(words, 3, 0, 5);
}
