//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { Worker, isMainThread, parentPort, workerData } = require("node:worker_threads");
const { check, hear, notifyOne, word } = require("./support/check.js");

if (isMainThread) {
  (async () => {
    const array = word();
    const [busy, other] = ["busy", "other"].map((role) => new Worker(__filename, { workerData: { role, array } }));
    await hear(busy);
    const outcome = hear(other);
    await notifyOne(array, 0);
    check("the other", await outcome, "ok");
    check("the busy one", await busy.terminate(), 1);
  })();
} else {
  parentPort.postMessage(workerData.role === "busy" ? "begins" : Atomics.wait(workerData.array, 0, 0));
  while (workerData.role === "busy");
}
