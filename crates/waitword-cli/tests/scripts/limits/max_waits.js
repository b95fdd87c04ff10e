// Waits beyond the limit are a range error and those within it stay.
//@ flags: --max-waits 3
//> RangeError: too many pending waits: the agent's limit is 3; notify some, or raise the limit
//> RangeError: too many pending waits: the agent's limit is 3; notify some, or raise the limit
//> not-equal timed-out
//> 1 true string
//> 1 3
//> ok ok ok

const { Worker } = require("worker_threads");
const word = new Int32Array(new SharedArrayBuffer(4));
const wait = (expected, timeout) => Atomics.waitAsync(word, 0, expected, timeout);
const refused = (timeout) => {
  try {
    return wait(0, timeout).async;
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
};
const seen = [];
for (let i = 0; i < 3; i++) wait(0).value.then((outcome) => seen.push(outcome));
console.log(refused());
console.log(refused(10));
// What does not wait needs no place.
console.log(wait(1).value, wait(0, 0).value);
// A place is free again as soon as its wait has ended.
console.log(Atomics.notify(word, 0, 1), wait(0).async, typeof refused());
// Each agent has its own.
const source = `const { parentPort, workerData: word } = require("worker_threads");
  for (let i = 0; i < 3; i++) Atomics.waitAsync(word, 0, 0);
  parentPort.postMessage("queued");`;
const worker = new Worker(source, { eval: true, workerData: word });
worker.on("message", async () => console.log(await worker.terminate(), Atomics.notify(word, 0)));
process.on("exit", () => console.log(...seen));
