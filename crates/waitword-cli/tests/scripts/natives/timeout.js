// A program exits without workers that do not end.
//@ flags: --timeout 0.5
//@ code: 124
//@ stderr has: --timeout

const { Worker } = require("worker_threads");
process.on("exit", (code) => console.log("exit", code));
new Worker("./searches.js").on("message", () => { setInterval(() => {}, 1e6); });
//@ file: searches.js
require("./support/search.js").search(() => require("worker_threads").parentPort.postMessage(0));
