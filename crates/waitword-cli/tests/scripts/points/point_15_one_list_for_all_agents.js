//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { Worker, isMainThread, parentPort, workerData } = require("node:worker_threads");
const { check, hear, word } = require("./support/check.js");

if (isMainThread) {
  (async () => {
    const array = word();
    Atomics.waitAsync(array, 0, 0);
    const workers = [];
    for (let count = 0; count < 2; count++) {
      const worker = new Worker(__filename, { workerData: array });
      check("its place is in the queue", await hear(worker), "twice");
      workers.push(worker);
    }
    check("all five", Atomics.notify(array, 0), 5);
    check("woken", await Promise.all(workers.map(hear)), [["ok", "ok"], ["ok", "ok"]]);
  })();
} else {
  const stayAlive = setInterval(() => {}, 1_000);
  const promises = [1, 2].map(() => Atomics.waitAsync(workerData, 0, 0).value);
  parentPort.postMessage("twice");
  Promise.all(promises).then((outcomes) => {
    parentPort.postMessage(outcomes);
    clearInterval(stayAlive);
  });
}
