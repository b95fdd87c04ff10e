// As the programs of `node` have it, where Node is not installed, too.
//> of a worker uncaughtException

const { Worker } = require("worker_threads");
process.on("uncaughtException", (error, origin) => console.log(error.message, origin));
new Worker("throw new Error('of a worker')", { eval: true });
