//@ each WORKER: worker
//@ each WORKER: worker.unref()
//> exit 0 1 0
//> main ok

const { Worker, isMainThread, workerData: words } = require("worker_threads");
if (isMainThread) {
  const words = new Int32Array(new SharedArrayBuffer(8));
  Atomics.waitAsync(words, 0, 0).value.then((outcome) => console.log("main", outcome));
  const worker = new Worker(__filename, { workerData: words });
  worker.on("exit", (code) => console.log("exit", code, Atomics.notify(words, 0), Atomics.notify(words, 1)));
  WORKER;
} else {
  Atomics.waitAsync(words, 1, 0);
}
