//> 8 0 32

const { Worker, isMainThread, parentPort, workerData } = require("worker_threads");
if (isMainThread) {
  const memory = new SharedArrayBuffer(4, { maxByteLength: 64 });
  const worker = new Worker(__filename, { workerData: memory });
  worker.once("message", () => {
    memory.grow(32);
    worker.on("message", (seen) => console.log(...seen));
    worker.postMessage("look");
  });
} else {
  const view = new Int32Array(workerData);
  parentPort.once("message", () => parentPort.postMessage([view.length, view[7], workerData.byteLength]));
  parentPort.postMessage("ready");
}
