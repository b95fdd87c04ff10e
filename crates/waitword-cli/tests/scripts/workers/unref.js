// An unreferenced worker does not keep the program alive.
//> end

const { Worker } = require("worker_threads");
const worker = new Worker("for (;;);", { eval: true });
worker.unref();
worker.on("exit", () => console.log("never"));
console.log("end");
