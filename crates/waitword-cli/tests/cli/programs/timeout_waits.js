const { Worker } = require("worker_threads");
const word = new Int32Array(new SharedArrayBuffer(4));
Atomics.waitAsync(word, 0, 0);
const source = 'Atomics.wait(require("worker_threads").workerData, 0, 0)';
new Worker(source, { eval: true, workerData: word });
setInterval(() => {}, 1000);
