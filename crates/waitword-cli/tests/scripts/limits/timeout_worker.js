// The timeout ends a program wherever its worker is.
//@ flags: --timeout 0.2
//@ each PLACE in places.txt
//@ code: 124
//@ stderr has: --timeout
//@ stderr lacks: cannot interrupt

const { Worker } = require("worker_threads");
new Worker(String.raw`PLACE`, { eval: true });
