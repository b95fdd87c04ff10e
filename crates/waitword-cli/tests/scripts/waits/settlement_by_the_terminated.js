// An agent that notified and is gone has notified: whatever it settled runs, however close the end.
//> ok

const { Worker } = require("worker_threads");
const word = new Int32Array(new SharedArrayBuffer(4));
const source = `const { parentPort, workerData: word } = require("worker_threads");
  Atomics.notify(word, 0); parentPort.postMessage(0); for (;;);`;
Atomics.waitAsync(word, 0, 0).value.then((outcome) => console.log(outcome));
const worker = new Worker(source, { eval: true, workerData: word });
worker.on("message", () => worker.terminate());
