// Workers that block on a baton of their own, in a ring; and one that all wait for.
//@ flags: --main-can-block
//@ stdout: as on Node

const { Worker, isMainThread, parentPort, workerData } = require("node:worker_threads");

const [WORKERS, ROUNDS] = [4, 50];
const [BATON, GATE, READY] = [0, 1, 2];
if (isMainThread) {
  const array = new Int32Array(new SharedArrayBuffer(12));
  array[BATON] = -1;
  const lines = [];
  let exits = 0;
  for (let me = 0; me < WORKERS; me++) {
    const worker = new Worker(__filename, { workerData: { array, me } });
    worker.on("message", (message) => lines.push(message));
    worker.on("exit", (code) => {
      if (code !== 0) console.log("exit", code);
      if (++exits === WORKERS) {
        console.log(lines.sort());
        console.log(Array.from(array), Atomics.notify(array, BATON), Atomics.notify(array, GATE));
      }
    });
  }
  const begin = () => {
    if (Atomics.load(array, READY) < WORKERS) return setTimeout(begin, 1);
    Atomics.store(array, GATE, 1);
    Atomics.notify(array, GATE);
    Atomics.store(array, BATON, 0);
    Atomics.notify(array, BATON);
  };
  begin();
} else {
  const { array, me } = workerData;
  Atomics.add(array, READY, 1);
  const gate = Atomics.wait(array, GATE, 0);
  const seen = new Set([gate === "ok" || gate === "not-equal"]);
  for (let turn = me; turn < ROUNDS * WORKERS; turn += WORKERS) {
    for (let now; (now = Atomics.load(array, BATON)) !== turn; ) seen.add(["ok", "not-equal"].includes(Atomics.wait(array, BATON, now)));
    Atomics.store(array, BATON, turn + 1);
    Atomics.notify(array, BATON);
  }
  parentPort.postMessage(`worker ${me}: ${[...seen]}`);
}
