const { Worker } = require("worker_threads");
const word = new Int32Array(new SharedArrayBuffer(4));
const source = "const { parentPort, workerData } = require('worker_threads');" +
  "parentPort.postMessage(0); Atomics.wait(workerData, 0, 0);";
new Worker(source, { eval: true, workerData: word }).on("message", () => console.log("blocked"));
setInterval(() => {}, 1000);
