//> 1 0

const { Worker } = require("worker_threads");
const grandchild = `const { workerData: word } = require("worker_threads");
  // So many take their time to go.
  for (let waiter = 0; waiter < 5000; waiter++) Atomics.waitAsync(word, 0, 0);
  Atomics.store(word, 1, 1);
  Atomics.wait(word, 0, 0);`;
const child = `const { Worker, workerData } = require("worker_threads");
  new Worker(${JSON.stringify(grandchild)}, { eval: true, workerData });
  while (true);`;
const shared = new Int32Array(new SharedArrayBuffer(8));
const worker = new Worker(child, { eval: true, workerData: shared });
const timer = setInterval(async () => {
  // All but one of the grandchild's waits are queued, and that one is on its way there.
  if (Atomics.load(shared, 1) === 0) return;
  clearInterval(timer);
  console.log(await worker.terminate(), Atomics.notify(shared, 0));
}, 1);
