//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { Worker, isMainThread, parentPort, workerData } = require("node:worker_threads");
const { check, hear, pause } = require("./support/check.js");

if (isMainThread) {
  (async () => {
    const array = new Int32Array(new SharedArrayBuffer(8));
    const worker = new Worker(__filename, { workerData: array });
    await hear(worker);
    await pause(20);
    check("terminate", await worker.terminate(), 1);
    await pause(20);
    check("it did not go on", array[1], 0);
  })();
} else {
  parentPort.postMessage("on its way");
  try {
    Atomics.wait(workerData, 0, 0);
  } finally {
    workerData[1] = 1;
  }
}
