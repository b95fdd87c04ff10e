// The same for the error of a worker.
//@ flags: --main-can-block
//@ stdout: as on Node

process.on('exit', (code) => { console.log(code); process.exitCode = 12; });
const { Worker } = require('node:worker_threads');
new Worker('throw new Error(1)', { eval: true });
