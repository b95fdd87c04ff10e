// An open port with a listener keeps its agent and a silent or unreferenced one does not.
//@ code: 1
//@ stderr has: deadlock
//@ stderr has: worker 1: Atomics.wait

const { MessageChannel, Worker } = require("worker_threads");
const { port1, port2 } = new MessageChannel();
const worker = new Worker(`
  const { workerData: { port, word } } = require("worker_threads");
  Atomics.wait(word, 0, 0);
  port.postMessage("from a worker that nobody waits for");`,
  { eval: true, workerData: { port: port2, word: new Int32Array(new SharedArrayBuffer(4)) }, transferList: [port2] });
worker.unref();
const word = new Int32Array(new SharedArrayBuffer(4));
port1.on("message", (value) => console.log(value));
setTimeout(() => port1.postMessage("nobody reads this"), 1);
