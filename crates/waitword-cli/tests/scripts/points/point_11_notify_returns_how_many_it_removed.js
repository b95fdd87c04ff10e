// Blocked agents and promises count one each.
//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { Worker, isMainThread, workerData } = require("node:worker_threads");
const { check, hear, pause, word } = require("./support/check.js");

if (isMainThread) {
  (async () => {
    const array = word();
    for (let promise = 0; promise < 3; promise++) Atomics.waitAsync(array, 0, 0);
    check("two of three promises", Atomics.notify(array, 0, 2), 2);
    const workers = [1, 2].map(() => new Worker(__filename, { workerData: array }));
    const outcomes = Promise.all(workers.map(hear));
    let woken = 0;
    for (; woken < 3; await pause()) woken += Atomics.notify(array, 0);
    check("a promise and two workers", woken, 3);
    check("the workers", await outcomes, ["ok", "ok"]);
    check("nobody", Atomics.notify(array, 0), 0);
  })();
} else {
  require("node:worker_threads").parentPort.postMessage(Atomics.wait(workerData, 0, 0));
}
