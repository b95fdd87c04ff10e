// All agents share the memory of the program.
//@ flags: --total-memory 32M
//> shared RangeError true true
//> growable RangeError true true
//> heap InternalError true true

const { Worker } = require("worker_threads");
const { MIB, fill } = require("./support/fill.js");
const source = `
  const { parentPort } = require("worker_threads");
  ${fill}
  const kept = [];
  const kinds = {
    shared: () => kept.push(new SharedArrayBuffer(1 << 20)),
    growable: () => kept.push(new SharedArrayBuffer(1, { maxByteLength: 1 << 20 })),
    heap: () => kept.push(new ArrayBuffer(1 << 20)),
  };
  parentPort.on("message", (kind) => {
    const [taken, error] = fill(kinds[kind]);
    kept.length = 0;
    parentPort.postMessage([taken, error.name]);
  });`;
const worker = new Worker(source, { eval: true });
const ask = (kind) => new Promise((resolve) => {
  worker.once("message", resolve);
  worker.postMessage(kind);
});
(async () => {
  for (const kind of ["shared", "growable", "heap"]) {
    const [alone, name] = await ask(kind);
    const half = [new SharedArrayBuffer(8 * MIB), new ArrayBuffer(4 * MIB)];
    const { port1, port2 } = new MessageChannel();
    port1.postMessage("x".repeat(4 * MIB));
    const [beside] = await ask(kind);
    port2.close();
    half.length = 0;
    console.log(kind, name, alone > 20, alone - beside >= 15 && alone - beside <= 17);
    await new Promise((resolve) => setTimeout(resolve));
  }
  worker.terminate();
})();
