// Due timers without end do not keep the loop from waits and messages.
//> 0

const { Worker } = require("worker_threads");
const word = new Int32Array(new SharedArrayBuffer(4));
const pending = new Set(["ok", "message"]);
(function again() {
  if (pending.size > 0) setImmediate(again);
})();
Atomics.waitAsync(word, 0, 0).value.then((outcome) => pending.delete(outcome));
const source = `const { parentPort, workerData: word } = require("worker_threads");
  parentPort.postMessage("message");
  Atomics.notify(word, 0);`;
const worker = new Worker(source, { eval: true, workerData: word });
worker.on("message", (message) => pending.delete(message));
process.on("exit", () => console.log(pending.size));
