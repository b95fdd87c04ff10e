//@ flags: --memory-limit 16M
//> { greedy: [Getter] } within the limit

const { Worker } = require("worker_threads");
const made = new Int32Array(new SharedArrayBuffer(4));
const worker = new Worker(`
  const made = require("worker_threads").workerData;
  const kept = [];
  throw { get greedy() { while (Atomics.load(made, 0) < 40) kept.push(new ArrayBuffer(1 << 20)), Atomics.add(made, 0, 1); } };
`, { eval: true, workerData: made });
worker.on("error", (error) => console.log(String(error), made[0] < 16 ? "within the limit" : made[0]));
