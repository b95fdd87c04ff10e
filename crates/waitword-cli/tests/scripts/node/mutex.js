// A mutex of one word, taken by workers that block and by a main agent that awaits: no count is lost.
//@ flags: --main-can-block
//@ stdout: as on Node

const { Worker, isMainThread, workerData } = require("node:worker_threads");

const [FREE, TAKEN, CONTENDED] = [0, 1, 2];
const [LOCK, COUNT] = [0, 1];
const ROUNDS = 500;
const array = workerData ?? new Int32Array(new SharedArrayBuffer(8));

const take = (from, to) => Atomics.compareExchange(array, LOCK, from, to) === from;
const unlock = () => {
  if (Atomics.exchange(array, LOCK, FREE) === CONTENDED) Atomics.notify(array, LOCK, 1);
};
const count = () => (array[COUNT] = array[COUNT] + 1);

(async () => {
  if (!isMainThread) {
    for (let round = 0; round < ROUNDS; round++) {
      if (!take(FREE, TAKEN)) while (Atomics.exchange(array, LOCK, CONTENDED) !== FREE) Atomics.wait(array, LOCK, CONTENDED);
      count();
      unlock();
    }
    return;
  }
  const workers = [1, 2, 3].map(() => new Worker(__filename, { workerData: array }));
  const exits = workers.map((worker) => new Promise((resolve) => worker.on("exit", resolve)));
  for (let round = 0; round < ROUNDS; round++) {
    if (!take(FREE, TAKEN)) while (Atomics.exchange(array, LOCK, CONTENDED) !== FREE) await Atomics.waitAsync(array, LOCK, CONTENDED).value;
    count();
    unlock();
    if (round % 10 === 0) await new Promise(setImmediate);
  }
  console.log(await Promise.all(exits), array[COUNT]);
})();
