//@ flags: --main-can-block
//@ stdout: checks
//@ node: same
// On Node: Follows from 40: V8's own come no earlier than others.
//@ node differs: our own first

const { Worker, isMainThread, workerData } = require("node:worker_threads");
const { check, pause } = require("./support/check.js");

if (isMainThread) {
  (async () => {
    const array = new Int32Array(new SharedArrayBuffer(8));
    const log = [];
    for (const name of ["first", "second"]) Atomics.waitAsync(array, 0, 0).value.then(() => log.push(name));
    new Worker(__filename, { workerData: array });
    // This job goes on until the other agent has notified the first.
    while (Atomics.load(array, 1) === 0);
    check("the other agent's notify", array[1], 1);
    check("our own", Atomics.notify(array, 0), 1);
    while (log.length < 2) await pause();
    check("our own first", log, ["second", "first"]);
  })();
} else {
  Atomics.store(workerData, 1, Atomics.notify(workerData, 0, 1));
}
