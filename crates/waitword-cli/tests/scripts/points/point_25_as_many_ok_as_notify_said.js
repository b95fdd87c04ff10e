// Waits whose deadlines are about to pass, of either kind, in four agents; all notify.
//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { Worker, isMainThread, parentPort, workerData } = require("node:worker_threads");
const { check, hear } = require("./support/check.js");

const ROUNDS = 200;
const [WORD, SAID, OKS] = [0, 1, 2];
const array = workerData ?? new Int32Array(new SharedArrayBuffer(12));

async function work() {
  const promises = [];
  for (let round = 0; round < ROUNDS; round++) {
    promises.push(Atomics.waitAsync(array, WORD, 0, (round % 4) / 4).value);
    if (!isMainThread) promises.push(Atomics.wait(array, WORD, 0, (round % 3) / 8));
    Atomics.add(array, SAID, Atomics.notify(array, WORD, round % 4));
    if (round % 8 === 0) await null;
  }
  for (const outcome of await Promise.all(promises)) if (outcome === "ok") Atomics.add(array, OKS, 1);
}

const stayAlive = setInterval(() => {}, 1_000);
(async () => {
  if (isMainThread) {
    const workers = [1, 2, 3].map(() => new Worker(__filename, { workerData: array }));
    await Promise.all([work(), ...workers.map(hear)]);
    check("as many as notify said", array[OKS] === array[SAID] || [array[OKS], array[SAID]], true);
    check("some at all", array[SAID] > 0, true);
    check("nobody is left", Atomics.notify(array, WORD), 0);
  } else {
    await work();
    parentPort.postMessage("done");
  }
  clearInterval(stayAlive);
})();
