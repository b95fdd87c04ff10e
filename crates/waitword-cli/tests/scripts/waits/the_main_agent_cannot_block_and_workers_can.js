//> TypeError
//> not-equal timed-out

const { Worker } = require("worker_threads");
const word = new Int32Array(new SharedArrayBuffer(4));
try { Atomics.wait(word, 0, 0); } catch (error) { console.log(error.name); }
const source = `
  const { workerData } = require("worker_threads");
  console.log(Atomics.wait(workerData, 0, 1), Atomics.wait(workerData, 0, 0, 0));
`;
new Worker(source, { eval: true, workerData: word });
