// A fork bomb ends in errors.
//@ flags: --max-workers 20
//@ code: 1
//@ stderr has: in worker 20
//@ stderr has: too many workers: the limit is 20

const { Worker } = require('worker_threads'); new Worker(__filename);
