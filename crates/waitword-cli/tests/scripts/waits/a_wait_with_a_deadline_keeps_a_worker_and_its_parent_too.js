//> worker timed-out
//> exit 0

const { Worker } = require("worker_threads");
const source = `const word = new Int32Array(new SharedArrayBuffer(4));
  Atomics.waitAsync(word, 0, 0, 10).value.then((outcome) => console.log("worker", outcome))`;
new Worker(source, { eval: true }).on("exit", (code) => console.log("exit", code));
