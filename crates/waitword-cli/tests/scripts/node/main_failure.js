// The main agent hears of its end when nobody caught an error, and of a worker's error when nobody listens for that.
//@ flags: --main-can-block
//@ stdout: as on Node

const { Worker } = require("node:worker_threads");

process.once("uncaughtException", (error, origin) => {
  console.log(error.message, origin);
  setTimeout(() => {
    throw new TypeError("last");
  });
});
process.on("exit", (code) => console.log("exit", code));
new Worker("throw new Error('of a worker')", { eval: true });
