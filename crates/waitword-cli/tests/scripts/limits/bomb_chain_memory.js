// A fork bomb ends in errors.
//@ flags: --total-memory 24M
//@ code: 1
//@ stderr has: not enough memory for another agent
//@ stderr has: help: the limit is set by --total-memory

const { Worker } = require('worker_threads'); new Worker(__filename);
