// A worker that is out of memory says so as in Node. The second goes on after its errors, until nothing is left even for one.
//@ flags: --memory-limit 4M
//@ each GREEDY: const all = []; for (;;) all.push([all.length]);
//@ each GREEDY: let all; for (;;) try { for (;;) all = [all]; } catch {}
//> ERR_WORKER_OUT_OF_MEMORY true
//> 1

const { Worker } = require("worker_threads");
const worker = new Worker("GREEDY", { eval: true });
worker.on("error", (error) => console.log(error.code, error instanceof Error));
worker.on("exit", (code) => console.log(code));
