//> true 0
//> 7

const { Worker } = require("worker_threads");
const source = `const { parentPort } = require("worker_threads");
  parentPort.once("message", (bytes) => parentPort.postMessage(bytes[0]))`;
const worker = new Worker(source, { eval: true });
const bytes = new Uint8Array([7]);
worker.postMessage(bytes, [bytes.buffer]);
console.log(bytes.buffer.detached, bytes.length);
worker.on("message", (first) => console.log(first));
