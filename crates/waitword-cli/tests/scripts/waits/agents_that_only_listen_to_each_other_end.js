//@ stderr has: all agents wait for messages

const { Worker } = require("worker_threads");
new Worker(`require("worker_threads").parentPort.on("message", () => {})`, { eval: true });
