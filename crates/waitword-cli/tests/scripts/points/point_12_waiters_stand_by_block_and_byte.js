// GetWaiterList(block, byteIndex): neither the view nor the buffer object matters.
//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { Worker, isMainThread, parentPort, workerData } = require("node:worker_threads");
const { check, hear } = require("./support/check.js");

if (isMainThread) {
  (async () => {
    const buffer = new SharedArrayBuffer(64);
    const whole = new Int32Array(buffer);
    Atomics.waitAsync(new Int32Array(buffer, 16), 1, 0);
    check("another view", Atomics.notify(whole, 5), 1);
    Atomics.waitAsync(new Int32Array(structuredClone(buffer)), 5, 0);
    check("another object for the same memory", Atomics.notify(whole, 5), 1);
    Atomics.waitAsync(whole, 4, 0);
    check("the same index of another view", Atomics.notify(new Int32Array(buffer, 16), 4), 0);
    check("the same index of other memory", Atomics.notify(new Int32Array(new SharedArrayBuffer(64)), 4), 0);
    check("the place itself", Atomics.notify(whole, 4), 1);

    const worker = new Worker(__filename, { workerData: new Int32Array(buffer, 32) });
    await hear(worker);
    check("another agent's view", Atomics.notify(whole, 9), 1);
    check("its promise", await hear(worker), "ok");
  })();
} else {
  const stayAlive = setInterval(() => {}, 1_000);
  const { value } = Atomics.waitAsync(workerData, 1, 0);
  parentPort.postMessage("pending");
  value.then((outcome) => {
    parentPort.postMessage(outcome);
    clearInterval(stayAlive);
  });
}
