// A fork bomb ends in errors.
//@ flags: --total-memory 24M
//@ code: 1
//@ stderr has: no memory left for another agent
//@ stderr has: help: the limit is that of --total-memory

const { Worker } = require('worker_threads'); new Worker(__filename);
