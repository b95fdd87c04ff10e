// As `tests/node` has it, which needs Node.
//> of a worker uncaughtException

const { Worker } = require("worker_threads");
process.on("uncaughtException", (error, origin) => console.log(error.message, origin));
new Worker("throw new Error('of a worker')", { eval: true });
