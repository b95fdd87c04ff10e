// By an agent that is up to date before it gets them. Nothing asks the new objects how long they are.
//> false 6 6
//> 8 8

const { Worker } = require("node:worker_threads");
const g = new SharedArrayBuffer(16, { maxByteLength: 64 }), w = new Int32Array(new SharedArrayBuffer(8));
new Worker(`const { parentPort, workerData: { g, w } } = require("node:worker_threads");
  g.grow(24);
  parentPort.postMessage([g, structuredClone(g)]);
  while (Atomics.load(w, 0) === 0);
  g.grow(32);
  Atomics.store(w, 1, 1);`, { eval: true, workerData: { g, w } }).on("message", ([one, other]) => {
  const views = [one, other].map((buffer) => new Int32Array(buffer));
  console.log(one === other, ...views.map((view) => view.length));
  Atomics.store(w, 0, 1);
  while (Atomics.load(w, 1) === 0);
  console.log(...views.map((view) => view.length));
});
