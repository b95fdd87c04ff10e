// Promises of four agents, which say when they are queued. (Blocked agents cannot say it: see article/fifo-mixed.mjs.)
//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { Worker, isMainThread, parentPort, workerData } = require("node:worker_threads");
const { check, hear, word } = require("./support/check.js");

if (isMainThread) {
  (async () => {
    const array = word();
    const workers = [1, 2, 3].map(() => new Worker(__filename, { workerData: array }));
    const order = [];
    let heard = () => {};
    const arrive = async (who, place) => {
      if (who === 0) {
        Atomics.waitAsync(array, 0, 0).value.then(() => heard(place));
        return;
      }
      const worker = workers[who - 1];
      worker.postMessage(place);
      await hear(worker);
      worker.on("message", (message) => message === place && heard(place));
    };
    const arrivals = [1, 2, 0, 1, 3, 3, 0, 2, 1, 0, 2, 3];
    for (const [place, who] of arrivals.entries()) await arrive(who, place);
    for (let place = 0; place < arrivals.length; place++) {
      const next = new Promise((resolve) => (heard = resolve));
      Atomics.notify(array, 0, 1);
      order.push(await next);
    }
    check("notified one by one", order, [...arrivals.keys()]);
    for (const worker of workers) worker.terminate();
  })();
} else {
  parentPort.on("message", (place) => {
    const { value } = Atomics.waitAsync(workerData, 0, 0);
    parentPort.postMessage("queued");
    value.then(() => parentPort.postMessage(place));
  });
}
