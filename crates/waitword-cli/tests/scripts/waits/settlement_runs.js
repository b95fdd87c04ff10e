// An agent that notified and is gone has notified: whatever it settled runs, however close the end.
//> 100

const { Worker } = require("worker_threads");
const source = `const { workerData: word } = require("worker_threads"); Atomics.notify(word, 0);`;
let settled = 0;
(function again(left) {
  if (left === 0) return console.log(settled);
  const word = new Int32Array(new SharedArrayBuffer(4));
  Atomics.waitAsync(word, 0, 0).value.then(() => { settled++; again(left - 1); });
  new Worker(source, { eval: true, workerData: word }).unref();
})(100);
