const { Worker } = require("worker_threads");
const source = `const { workerData } = require("worker_threads");
  for (let i = 0; i < 200; i++) console.log(workerData.repeat(300));`;
for (const letter of "abcd") new Worker(source, { eval: true, workerData: letter });
