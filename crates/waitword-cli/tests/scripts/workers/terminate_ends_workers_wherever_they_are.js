// `terminate` resolves only when nothing of the worker is left: its waits do not eat a notify any more.
//> blocked [ 1, 1 ] 0 undefined
//> busy [ 1, 1 ] 0 undefined
//> awaiting [ 1, 1 ] 0 undefined
//> listening [ 1, 1 ] 0 undefined
//> sleeping [ 1, 1 ] 0 undefined
//> unborn 1

const { Worker } = require("worker_threads");
const word = new Int32Array(new SharedArrayBuffer(4));
const head = `const { parentPort, workerData: word } = require("worker_threads"); parentPort.postMessage(0);`;
const places = {
  blocked: "Atomics.wait(word, 0, 0);",
  busy: "for (;;) try { for (;;); } finally { continue; }",
  awaiting: "Atomics.waitAsync(word, 0, 0); setInterval(() => {}, 1000);",
  listening: "parentPort.on('message', () => {});",
  sleeping: "setTimeout(() => {}, 1e6);",
};
(async () => {
  for (const [name, source] of Object.entries(places)) {
    const worker = new Worker(head + source, { eval: true, workerData: word });
    await new Promise((resolve) => worker.once("message", resolve));
    const codes = await Promise.all([worker.terminate(), worker.terminate()]);
    console.log(name, codes, Atomics.notify(word, 0), await worker.terminate());
  }
  const unborn = new Worker("for (;;);", { eval: true });
  console.log("unborn", await unborn.terminate());
})();
