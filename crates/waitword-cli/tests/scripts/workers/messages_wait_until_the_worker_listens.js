//> 1
//> 2
//> 3
//> exit 0

const { Worker } = require("worker_threads");
const source = `const { parentPort } = require("worker_threads");
  setTimeout(() => parentPort.on("message", (m) => { console.log(m); if (m === 3) parentPort.close(); }), 5)`;
const worker = new Worker(source, { eval: true });
for (const each of [1, 2, 3]) worker.postMessage(each);
worker.on("exit", (code) => console.log("exit", code));
