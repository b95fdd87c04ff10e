// Plain stores too, of any agent.
//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { Worker, isMainThread, parentPort, workerData } = require("node:worker_threads");
const { check, notifyOne } = require("./support/check.js");

const ROUNDS = 100;
if (isMainThread) {
  const array = new Int32Array(new SharedArrayBuffer(8));
  const worker = new Worker(__filename, { workerData: array });
  worker.on("message", (wrong) => check("rounds in which a plain store was not seen", wrong, 0));
  (async () => {
    for (let round = 1; round <= ROUNDS; round++) {
      array[1] = round;
      await notifyOne(array, 0);
    }
  })();
} else {
  let wrong = 0;
  for (let round = 1; round <= ROUNDS; round++) {
    Atomics.wait(workerData, 0, 0);
    if (workerData[1] < round) wrong++;
  }
  parentPort.postMessage(wrong);
}
