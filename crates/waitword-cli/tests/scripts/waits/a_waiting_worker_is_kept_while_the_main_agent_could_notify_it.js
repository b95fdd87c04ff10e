//> ok

const { Worker, isMainThread, workerData: word } = require("worker_threads");
if (isMainThread) {
  const word = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(__filename, { workerData: word });
  // Only this timer keeps the program going while the worker waits.
  const timer = setInterval(() => {
    if (Atomics.notify(word, 0) === 1) clearInterval(timer);
  }, 1);
} else {
  Atomics.waitAsync(word, 0, 0).value.then((outcome) => console.log(outcome));
}
