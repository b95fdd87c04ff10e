//@ code: 9
//> exit 9

const { Worker } = require("worker_threads");
const word = new Int32Array(new SharedArrayBuffer(4));
for (const source of ["for (;;);", "Atomics.wait(require('worker_threads').workerData, 0, 0)"]) {
  new Worker(source, { eval: true, workerData: word });
}
process.on("exit", (code) => console.log("exit", code));
setTimeout(() => {
  process.exit(9);
  console.log("never");
}, 1);
