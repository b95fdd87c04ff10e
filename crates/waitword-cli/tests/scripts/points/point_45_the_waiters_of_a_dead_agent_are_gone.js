//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { Worker, isMainThread, parentPort, workerData } = require("node:worker_threads");
const { check, hear, pause, word } = require("./support/check.js");

if (isMainThread) {
  (async () => {
    for (const kind of ["wait", "waitAsync"]) {
      const array = word();
      const dead = new Worker(__filename, { workerData: { array, kind } });
      await hear(dead);
      await pause(20);
      const { value } = Atomics.waitAsync(array, 0, 0);
      await dead.terminate();
      check(`${kind}: the notify goes to the next`, Atomics.notify(array, 0, 1), 1);
      check("which is woken", await value, "ok");
      check("nobody is left", Atomics.notify(array, 0), 0);
    }
  })();
} else {
  const { array, kind } = workerData;
  parentPort.on("message", () => {});
  if (kind === "waitAsync") for (let waiter = 0; waiter < 100; waiter++) Atomics.waitAsync(array, 0, 0);
  parentPort.postMessage("on its way");
  if (kind === "wait") Atomics.wait(array, 0, 0);
}
