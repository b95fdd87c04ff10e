// Endless recursion is a range error.
//> RangeError

const { Worker } = require("worker_threads");
const worker = new Worker("(function f() { f(); })()", { eval: true });
worker.on("error", (error) => console.log(error.name));
