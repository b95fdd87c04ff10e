// Shared memory counts for its maker until the last handle is gone.
//@ flags: --memory-limit 8M
//> 7 RangeError
//> 7 RangeError
//> 7 RangeError
//> 7 RangeError
//> 7 RangeError
//> 7 RangeError
//> 7 0 while the worker has it all
//> true

const { Worker } = require("worker_threads");
const { MIB, fill } = require("./support/fill.js");
for (const options of [undefined, { maxByteLength: MIB }]) {
  for (let round = 0; round < 3; round++) {
    let all = [];
    const [taken, error] = fill(() => all.push(new SharedArrayBuffer(options ? 1 : MIB, options)));
    console.log(taken, error.name);
    // What is reserved is there to be grown into.
    if (options) all.forEach((each) => each.grow(MIB));
    all = undefined;
  }
}
// Garbage that only the collector finds.
const litter = () => {
  const circle = { memory: new SharedArrayBuffer(MIB) };
  circle.circle = circle;
};
for (let i = 0; i < 100; i++) litter();
const source = `const { parentPort } = require("worker_threads"); const all = [];
  parentPort.on("message", (memory) => (all.push(memory), parentPort.postMessage(all.length)));`;
const worker = new Worker(source, { eval: true });
let sent = 0;
const [taken] = fill(() => (worker.postMessage(new SharedArrayBuffer(MIB)), sent++));
worker.on("message", (count) => {
  if (count < sent) return;
  const more = [];
  console.log(taken, fill(() => more.push(new SharedArrayBuffer(MIB)))[0], "while the worker has it all");
  worker.terminate().then(() => console.log(fill(() => {
    if (++sent > 100) throw new Error();
    new SharedArrayBuffer(MIB);
  })[0] > 50));
});
