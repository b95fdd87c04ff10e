//@ each BUSY: for (const end = Date.now() + 20; Date.now() < end;);
//@ each BUSY: Atomics.wait(word, 1, 0, 20);
//@ each BUSY: setTimeout(() => {}, 20); process.on('exit', () => {});
//@ each BUSY: Atomics.waitAsync(word, 1, 0, 20);
//> ok

const { Worker } = require("worker_threads");
const word = new Int32Array(new SharedArrayBuffer(8));
const source = `const { workerData: word } = require("worker_threads");
  process.on("exit", () => Atomics.notify(word, 0)); BUSY`;
new Worker(source, { eval: true, workerData: word }).unref();
Atomics.waitAsync(word, 0, 0).value.then((outcome) => console.log(outcome));
