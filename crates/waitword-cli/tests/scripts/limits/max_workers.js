// Workers beyond the limit are an error where they are made.
//@ flags: --max-workers 3
//> made
//> made
//> made
//> ERR_WORKER_INIT_FAILED Worker initialization failure: too many workers: the limit is 3; end some, or raise the limit
//> ERR_WORKER_INIT_FAILED
//> nested ERR_WORKER_INIT_FAILED
//> made

const { Worker } = require("worker_threads");
const stay = "require('worker_threads').parentPort.on('message', () => {})";
const workers = [];
const attempt = () => {
  try {
    workers.push(new Worker(stay, { eval: true }));
    return "made";
  } catch ({ code, message }) {
    return code + " " + message;
  }
};
for (let at = 0; at < 4; at++) console.log(attempt());
// Those of a page are no others.
try { new globalThis.Worker("data:,"); } catch ({ code }) { console.log(code); }
(async () => {
  await workers.pop().terminate();
  await workers.pop().terminate();
  workers.push(new Worker(stay, { eval: true }));
  // Nor are those that workers make.
  const nested = `const { Worker, parentPort } = require("worker_threads");
    try { new Worker("", { eval: true }); } catch ({ code }) { parentPort.postMessage(code); }`;
  const parent = new Worker(nested, { eval: true });
  parent.on("message", (code) => console.log("nested", code));
  await new Promise((resolve) => parent.on("exit", resolve));
  console.log(attempt());
  for (const worker of workers) worker.terminate();
})();
