//> ERR_METHOD_NOT_IMPLEMENTED true true
//> ERR_METHOD_NOT_IMPLEMENTED true true
//> ERR_METHOD_NOT_IMPLEMENTED true true
//> ERR_METHOD_NOT_IMPLEMENTED true true
//> ERR_METHOD_NOT_IMPLEMENTED true true
//> ERR_METHOD_NOT_IMPLEMENTED true true
//> ERR_METHOD_NOT_IMPLEMENTED true true
//> ERR_METHOD_NOT_IMPLEMENTED true true
//> ERR_METHOD_NOT_IMPLEMENTED true true
//> ERR_UNKNOWN_BUILTIN_MODULE true ERR_UNKNOWN_BUILTIN_MODULE
//> MODULE_NOT_FOUND true MODULE_NOT_FOUND
//> ERR_WORKER_NOT_RUNNING

const { SHARE_ENV, Worker, moveMessagePortToContext, postMessageToThread } = require("node:worker_threads");
const worker = new Worker("require('worker_threads').parentPort.once('message', () => {})", { eval: true });
const calls = [
  () => new Worker("", { eval: true, env: SHARE_ENV }),
  () => new Worker("", { eval: true, stdin: true }),
  () => worker.getHeapSnapshot(),
  () => worker.getHeapStatistics(),
  () => worker.cpuUsage(),
  () => worker.startCpuProfile(),
  () => worker.startHeapProfile(),
  () => moveMessagePortToContext(),
  () => postMessageToThread(1, 1),
  () => require("node:fs"),
  () => require("left-pad"),
];
(async () => {
  for (const call of calls) {
    try {
      await call();
    } catch ({ code, message }) {
      console.log(code, /not supported|Built in are node:assert/.test(message), /\(.{12,}\)/.test(message) || code);
    }
  }
  await worker.terminate();
  await worker.getHeapSnapshot().catch(({ code }) => console.log(code));
})();
