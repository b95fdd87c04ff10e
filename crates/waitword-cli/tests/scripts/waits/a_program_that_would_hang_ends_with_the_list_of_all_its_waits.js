//@ code: 1
//@ stderr has: deadlock
//@ stderr has: main: Atomics.waitAsync on byte 0
//@ stderr has: main: Atomics.waitAsync on byte 4
//@ stderr has: worker 1: Atomics.waitAsync on byte 8
//@ stderr has: worker 1: Atomics.wait on byte 12

const { Worker } = require("worker_threads");
const word = new Int32Array(new SharedArrayBuffer(16));
const source = `const { parentPort, workerData: word } = require("worker_threads");
  parentPort.on("message", () => {});
  Atomics.waitAsync(word, 2, 0);
  Atomics.wait(word, 3, 0);`;
new Worker(source, { eval: true, workerData: word });
Atomics.waitAsync(word, 0, 0);
Atomics.waitAsync(word, 1, 0);
new MessageChannel().port1.on("message", () => {});
