//> exit 1
//> undefined

const { Worker } = require("worker_threads");
const worker = new Worker("for (;;);", { eval: true });
worker.on("exit", (code) => console.log("exit", code));
worker.on("online", async () => console.log(await worker[Symbol.asyncDispose]()));
