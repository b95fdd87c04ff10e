const { Worker } = require("worker_threads");
const word = new Int32Array(new SharedArrayBuffer(8));
const source = `const { parentPort, workerData: word } = require("worker_threads");
  for (let i = 0; i < 10; i++) Atomics.waitAsync(word, 0, 0);
  for (let i = 0; i < 10; i++) Atomics.waitAsync(word, 0, 0, 1e9);
  parentPort.postMessage("ready");
  Atomics.wait(word, 1, 0);`;
async function once() {
  const worker = new Worker(source, { eval: true, workerData: word });
  await new Promise((resolve) => worker.once("message", resolve));
  await worker.terminate();
  if (Atomics.notify(word, 0) + Atomics.notify(word, 1) !== 0) throw new Error("the dead eat notifies");
}
(async () => {
  for (let round = 0; round < 10; round++) {
    for (let i = 0; i < 1000; i++) await once();
    await mark();
  }
})();
