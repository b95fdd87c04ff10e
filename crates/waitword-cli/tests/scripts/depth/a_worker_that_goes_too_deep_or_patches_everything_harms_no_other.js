//> ok 2

const { Worker } = require("worker_threads");
const sources = [
  "function f() { f(); } f()",
  "Object.prototype.then = () => { throw 1; }; Promise.resolve({})",
  "globalThis.Promise = Array.prototype.push = null; throw null",
  "Atomics.wait = Atomics.notify = undefined; delete globalThis.Atomics; throw { get stack() { throw 1; } }",
];
let left = sources.length;
for (const source of sources) {
  const worker = new Worker(source, { eval: true });
  worker.on("error", () => {});
  worker.on("exit", () => {
    if (--left > 0) return;
    const word = new Int32Array(new SharedArrayBuffer(4));
    Atomics.waitAsync(word, 0, 0).value.then((outcome) => console.log(outcome, [1].concat([2]).length));
    Atomics.notify(word, 0);
  });
}
