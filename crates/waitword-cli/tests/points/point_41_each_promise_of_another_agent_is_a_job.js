// In the order of the notifies, with all microtasks of one before the next. ECMA-262 leaves the order open; HTML has it so.
const { Worker, isMainThread, workerData } = require("node:worker_threads");
const { check, hear, word } = require("./support/check.js");

if (isMainThread) {
  (async () => {
    const array = word();
    const log = [];
    const waits = ["a", "b", "c"].map((name) =>
      Atomics.waitAsync(array, 0, 0).value.then(() => log.push(name)).then(() => log.push(`${name}+`)),
    );
    await hear(new Worker(__filename, { workerData: array }));
    await Promise.all(waits);
    check("a job each", log, ["a", "a+", "b", "b+", "c", "c+"]);
  })();
} else {
  require("node:worker_threads").parentPort.postMessage(Atomics.notify(workerData, 0));
}
