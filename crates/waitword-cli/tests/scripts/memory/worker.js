// Memory beyond the limit is an error of that agent alone.
//@ flags: --memory-limit 16M
//@ each GREEDY in greedy.txt
//@ each GREEDY: const word = new Int32Array(new SharedArrayBuffer(4)); for (;;) Atomics.waitAsync(word, 0, 0);
//> true
//> 1 [ '1', '2' ]

const { Worker } = require("worker_threads");
const isOutOfMemory = (thrown) => thrown instanceof Error && /out of memory|string too long/.test(thrown.message);
const worker = new Worker("GREEDY", { eval: true });
worker.on("error", (error) => console.log(isOutOfMemory(error)));
worker.on("exit", (code) => console.log(code, [1, 2].map(String)));
