// A thread that is blocked does not take a message in time; when nobody can take it at all, the program ends.
//@ code: 1
//@ stderr has: deadlock

const { Worker, postMessageToThread } = require("worker_threads");
new Worker("Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)", { eval: true });
postMessageToThread(1, "hello");
