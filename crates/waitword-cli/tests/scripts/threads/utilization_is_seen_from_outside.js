//> { idle: 0, active: 0, utilization: 0 }
//> true true true
//> true
//> { idle: 0, active: 0, utilization: 0 }

const { Worker } = require("worker_threads");
const source = `const { parentPort } = require("worker_threads");
  parentPort.on("message", (milliseconds) => {
    for (const start = performance.now(); performance.now() - start < milliseconds; );
    parentPort.postMessage("done");
  });`;
const worker = new Worker(source, { eval: true });
const { eventLoopUtilization } = worker.performance;
console.log(eventLoopUtilization());
worker.once("online", async () => {
  const message = (after) => new Promise((resolve) => (worker.once("message", resolve), worker.postMessage(after)));
  await message(0);
  const before = eventLoopUtilization();
  await message(30);
  const after = eventLoopUtilization();
  const during = eventLoopUtilization(after, before);
  console.log(during.active >= 29, during.utilization > 0, during.active + during.idle <= after.active + after.idle);
  for (let now; (now = eventLoopUtilization(after)).idle < 5; ) await null;
  console.log(eventLoopUtilization(after).utilization < 1);
  await worker.terminate();
  console.log(eventLoopUtilization());
});
