// A check before the load only, and not after it, misses what is grown and published between the two.
//> []

const { Worker } = require("node:worker_threads");
const g = new SharedArrayBuffer(16, { maxByteLength: 4096 }), t = new Int32Array(g);
const w = new Int32Array(new SharedArrayBuffer(8));
new Worker(`const { workerData: { g, w } } = require("node:worker_threads");
  for (let length = 5; length <= 1024; length++) {
    while (Atomics.load(w, 1) !== length);
    g.grow(4 * length);
    Atomics.store(w, 0, length);
  }`, { eval: true, workerData: { g, w } });
const missed = [];
for (let length = 5; length <= 1024; length++) {
  Atomics.store(w, 1, length);
  while (Atomics.load(w, 0) !== length);
  if (t.length !== length) missed.push(length);
}
console.log(missed);
