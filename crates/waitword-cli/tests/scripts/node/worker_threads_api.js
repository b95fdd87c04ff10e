// The rest of node:worker_threads: environment data, BroadcastChannel, limits, output that a parent captures, arguments.
//@ flags: --main-can-block
//@ stdout: as on Node

const wt = require("node:worker_threads");
const { BroadcastChannel, MessageChannel, MessagePort, SHARE_ENV, Worker } = wt;
const { once } = require("node:events");

const fails = (call) => {
  try {
    call();
    return "passed";
  } catch (error) {
    return `${error.name} ${error.code} ${error instanceof Error}`;
  }
};
const inWorker = (source, settings) => new Promise((resolve, reject) => {
  const got = [];
  const worker = new Worker(`const wt = require("worker_threads");\n${source}`, { eval: true, ...settings });
  worker.on("message", (message) => got.push(message));
  worker.on("error", reject);
  worker.on("exit", (code) => resolve([...got, code]));
});

(async () => {
  console.log(typeof SHARE_ENV, wt.resourceLimits, typeof wt.moveMessagePortToContext);

  wt.setEnvironmentData("shared", { deep: [1n] });
  wt.setEnvironmentData("gone", 1);
  wt.setEnvironmentData("gone");
  console.log(wt.getEnvironmentData("shared"), wt.getEnvironmentData("gone"));
  const nested = 'new wt.Worker("const wt = require(`worker_threads`); wt.parentPort.postMessage(wt.getEnvironmentData(`shared`))", { eval: true }).on("message", (it) => wt.parentPort.postMessage(it))';
  console.log(await inWorker(nested));
  console.log(await inWorker("wt.parentPort.postMessage([process.env.ONLY, process.env.PATH, process.argv.slice(2), wt.workerData])",
    { env: { ONLY: 1 }, argv: ["a", 2], workerData: null }));

  const buffer = new ArrayBuffer(8);
  wt.markAsUntransferable(buffer);
  const { port1, port2 } = new MessageChannel();
  port1.postMessage(buffer, [buffer]);
  console.log(buffer.byteLength, wt.receiveMessageOnPort(port2).message.byteLength);
  port1.close();

  const limits = await inWorker("wt.parentPort.postMessage(wt.resourceLimits.maxOldGenerationSizeMb)",
    { resourceLimits: { maxOldGenerationSizeMb: 64 } });
  console.log(limits);
  const greedy = new Worker("const all = []; for (;;) all.push(new Array(1000).fill(Math.random()));",
    { eval: true, resourceLimits: { maxOldGenerationSizeMb: 24 } });
  const [[error], [code]] = await Promise.all([once(greedy, "error"), new Promise((resolve) => greedy.on("exit", (code) => resolve([code])))]);
  console.log(error.name, error.code, error.message, code, greedy.resourceLimits);

  const loud = new Worker('console.log("out"); process.stdout.write("raw"); console.error("err")', { eval: true, stdout: true, stderr: true });
  loud.stdout.setEncoding("utf8");
  loud.stderr.setEncoding("utf8");
  let heard = "";
  loud.stdout.on("data", (text) => (heard += text));
  loud.stderr.on("data", (text) => (heard += `[${text}]`));
  await Promise.all([once(loud, "exit"), once(loud.stdout, "end"), once(loud.stderr, "end")]);
  console.log(JSON.stringify([...heard].sort().join("")));

  console.log([
    () => new Worker(), () => new Worker(5), () => new Worker("relative.js"), () => new Worker("", { eval: true, argv: 5 }),
    () => new Worker("", { eval: true, env: 5 }), () => new Worker("", { eval: true, execArgv: ["--bogus"] }),
    () => new Worker("", { eval: true, workerData: () => {} }), () => Worker("./x.js"), () => new MessagePort(),
    () => wt.receiveMessageOnPort({}), () => new BroadcastChannel(), () => port1.postMessage(),
  ].map(fails));
  const missing = new Worker("./there-is-none.js");
  missing.on("error", ({ code }) => console.log(code)).on("exit", (code) => console.log(code));
})();
