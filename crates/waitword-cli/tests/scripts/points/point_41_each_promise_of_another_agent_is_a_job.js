// In the order of the notifies, with all microtasks of one before the next. ECMA-262 leaves the order open; HTML has it so.
//@ flags: --main-can-block
//@ stdout: checks
//@ node: same
// On Node: V8 resolves all promises of an agent that one notify settles in one task, without microtasks between.
//@ node differs: a job each

const { Worker, isMainThread, workerData } = require("node:worker_threads");
const { check, hear } = require("./support/check.js");

if (isMainThread) {
  (async () => {
    const array = new Int32Array(new SharedArrayBuffer(8));
    const log = [];
    const wait = (name, index) =>
      Atomics.waitAsync(array, index, 0).value.then(() => log.push(name)).then(() => log.push(`${name}+`));
    const waits = [wait("last", 1), ...["a", "b", "c"].map((name) => wait(name, 0)), wait("very last", 1)];
    await hear(new Worker(__filename, { workerData: array }));
    await Promise.all(waits);
    check("in the order of the notifies", log.filter((name) => !name.endsWith("+")), ["a", "b", "c", "last", "very last"]);
    check("a job each", log, ["a", "a+", "b", "b+", "c", "c+", "last", "last+", "very last", "very last+"]);
  })();
} else {
  require("node:worker_threads").parentPort.postMessage([Atomics.notify(workerData, 0), Atomics.notify(workerData, 1)]);
}
