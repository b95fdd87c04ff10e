const { Worker, isMainThread, parentPort, workerData } = require("worker_threads");
if (isMainThread) {
  const worker = new Worker(__filename, { workerData: new Array(500).fill("data") });
  worker.on("message", (length) => console.log(length));
} else {
  const kept = Array.from({ length: 20_000 }, (_, i) => ({ i }));
  parentPort.postMessage(workerData.length + kept.length);
}
