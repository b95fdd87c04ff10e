//> 0 5
//> 6 7

const { Worker } = require("worker_threads");
const exit = (source) => new Promise((resolve) => new Worker(source, { eval: true }).on("exit", resolve));
(async () => {
  console.log(await exit(""), await exit("process.exit(5); console.log('never')"));
  console.log(await exit("process.exitCode = 6"), await exit("try { process.exit(7) } finally { for (;;); }"));
})();
