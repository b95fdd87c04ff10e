// What keeps an agent alive: a port and a worker, before and after listeners come and go, and after ref and unref. Each row is a program of
// its own, in a worker, with a timer that keeps nothing alive: it fires only in an agent that something else keeps alive.
//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { Worker } = require("node:worker_threads");
const table = `
port => ends
port.ref() => stays
port.ref(); port.unref() => ends
port.on("message", f) => stays
port.addEventListener("message", f) => stays
port.onmessage = f => stays
port.onmessage = f; port.onmessage = null => ends
port.on("other", f) => ends
port.on("message", f); port.off("message", f) => ends
port.on("message", f); port.unref() => ends
port.on("message", f); port.unref(); port.ref() => stays
port.unref(); port.on("message", f) => stays
port.ref(); port.on("message", f); port.off("message", f) => ends
port.on("message", f); port.off("message", f); port.ref() => stays
port.on("message", f); port.unref(); port.on("message", g) => ends
port.on("message", f); port.unref(); port.off("message", f); port.on("message", f) => stays
port.on("message", f); port.on("message", g); port.off("message", f) => stays
port.ref(); port.on("other", f); port.off("other", f) => stays
port.ref(); port.close() => ends
port.ref(); port.ref(); port.unref() => ends
worker => stays
worker.unref() => ends
worker.unref(); worker.ref() => stays
worker.on("message", f) => stays
worker.on("message", f); worker.unref() => ends
worker.unref(); worker.on("message", f) => stays
worker.unref(); worker.on("message", f); worker.off("message", f) => ends
worker.unref(); worker.on("exit", f) => ends
worker.unref(); worker.on("message", f); worker.on("message", g); worker.off("message", f) => stays
worker.unref(); worker.on("message", f); worker.unref(); worker.on("message", g) => ends
worker.unref(); worker.ref(); worker.on("message", f); worker.off("message", f) => stays
worker.on("message", f); worker.off("message", f) => stays
worker.on("message", f); worker.off("message", f); worker.unref() => ends
worker.unref(); worker.once("message", f) => stays
[port.ref(), port.unref(), worker.ref(), worker.unref()].every((it) => it === undefined) || process.exit(1) => ends
`;

// A page of source for each row. The inner worker is blocked until the timer of its parent fires.
const program = (row) => `
  const { MessageChannel, Worker } = require("node:worker_threads");
  const f = () => {}, g = () => {};
  const { port1: port, port2 } = new MessageChannel();
  const word = new Int32Array(new SharedArrayBuffer(4));
  const blocked = "Atomics.wait(require('node:worker_threads').workerData, 0, 0)";
  const worker = ${row.includes("worker")} ? new Worker(blocked, { eval: true, workerData: word }) : undefined;
  process.exitCode = 7;
  setTimeout(() => {
    process.exitCode = 8;
    port.close();
    Atomics.store(word, 0, 1);
    Atomics.notify(word, 0);
  }, 1000).unref();
  ${row};`;
const ends = { 7: "ends", 8: "stays" };

const seen = (operations) => new Promise((resolve) => {
  new Worker(program(operations), { eval: true }).on("exit", (code) => resolve(ends[code] ?? `exit code ${code}`));
});
const rows = table.trim().split("\n").map((row) => row.split(/ => (?=\w+$)/));
Promise.all(rows.map(([operations]) => seen(operations))).then((all) => rows.forEach(([operations, expected], at) => {
  console.log(all[at] === expected ? `ok  ${operations}: ${all[at]}` : `BAD ${operations}: ${all[at]}, not ${expected}`);
}));
