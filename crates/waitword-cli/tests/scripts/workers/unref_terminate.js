// An unreferenced worker does not keep the program alive.
//> exit 1

const { Worker } = require("worker_threads");
const worker = new Worker("for (;;);", { eval: true });
worker.unref();
worker.terminate().then((code) => console.log("exit", code));
