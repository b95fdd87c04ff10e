// What ends a script is made by the host, but it asks the script how to show its stack.
//> 5 0

const { Worker } = require("worker_threads");
const ran = new Int32Array(new SharedArrayBuffer(4));
const worker = new Worker(`
  const ran = require("worker_threads").workerData;
  Error.prepareStackTrace = () => Atomics.add(ran, 0, 1);
  process.exit(5);
`, { eval: true, workerData: ran });
worker.on("exit", (code) => console.log(code, ran[0]));
