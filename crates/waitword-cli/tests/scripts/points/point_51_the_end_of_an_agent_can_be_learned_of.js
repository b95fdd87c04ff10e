//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { Worker, isMainThread, parentPort } = require("node:worker_threads");
const { check, hear } = require("./support/check.js");

if (isMainThread) {
  (async () => {
    const worker = new Worker(__filename);
    const exit = new Promise((resolve) => worker.on("exit", resolve));
    await hear(worker);
    worker.terminate();
    check("it was ended", await exit, 1);
    check("no thread any more", worker.threadId, -1);
  })();
} else {
  parentPort.postMessage("alive");
  for (;;);
}
