// A program exits without workers that do not end.
//@ code: 1
//@ stderr has: Error: ours
//@ stderr lacks: worker
//> exit 1

const { Worker } = require("worker_threads");
process.on("exit", (code) => console.log("exit", code));
new Worker("./searches.js").on("message", () => { throw new Error("ours"); });
//@ file: searches.js
require("./support/search.js").search(() => require("worker_threads").parentPort.postMessage(0));
