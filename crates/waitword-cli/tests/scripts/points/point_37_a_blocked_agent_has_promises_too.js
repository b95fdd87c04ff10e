// Their jobs run when it is back.
//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { Worker, isMainThread, parentPort, workerData } = require("node:worker_threads");
const { check, hear, notifyOne } = require("./support/check.js");

if (isMainThread) {
  (async () => {
    const array = new Int32Array(new SharedArrayBuffer(8));
    const worker = new Worker(__filename, { workerData: array });
    await hear(worker);
    const log = hear(worker);
    check("its promises", Atomics.notify(array, 1), 2);
    await notifyOne(array, 0);
    check("in this order", await log, ["back: ok", "first", "second"]);
  })();
} else {
  const log = [];
  const stayAlive = setInterval(() => {}, 1_000);
  const waits = ["first", "second"].map((name) => Atomics.waitAsync(workerData, 1, 0).value.then(() => log.push(name)));
  parentPort.postMessage("pending");
  log.push(`back: ${Atomics.wait(workerData, 0, 0)}`);
  Promise.all(waits).then(() => {
    parentPort.postMessage(log);
    clearInterval(stayAlive);
  });
}
