// A program exits without workers that do not end, also without those below a worker that does not end.
//@ each WORKER: searches.js
//@ each WORKER: below.js
//@ code: 7
//> exit 7

const { Worker } = require("worker_threads");
process.on("exit", (code) => console.log("exit", code));
new Worker("./WORKER").on("message", () => process.exit(7));
//@ file: searches.js
require("./support/search.js").search(() => require("worker_threads").parentPort.postMessage(0));
//@ file: below.js
const { parentPort, Worker } = require("worker_threads");
const { search } = require("./support/search.js");
new Worker("./searches.js").on("message", () => search(() => parentPort.postMessage(0)));
