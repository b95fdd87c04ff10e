// No spurious wakeups: a worker that waits gets messages, sees stores, and has neighbours that are notified.
//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { Worker, isMainThread, parentPort, workerData } = require("node:worker_threads");
const { check, hear, notifyOne, pause } = require("./support/check.js");

if (isMainThread) {
  (async () => {
    const array = new Int32Array(new SharedArrayBuffer(8));
    const worker = new Worker(__filename, { workerData: array });
    await hear(worker);
    let over = false;
    const outcome = hear(worker).finally(() => (over = true));
    for (let round = 0; round < 20; round++) {
      worker.postMessage(round);
      Atomics.notify(array, 1);
      Atomics.notify(array, 0, 0);
      await pause();
    }
    check("it still waits", over, false);
    await notifyOne(array, 0);
    check("it is back", await outcome, "ok");
    worker.terminate();
  })();
} else {
  parentPort.on("message", () => {});
  parentPort.postMessage("about to wait");
  parentPort.postMessage(Atomics.wait(workerData, 0, 0));
}
