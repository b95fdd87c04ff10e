// A thread that is blocked does not take a message in time; when nobody can take it at all, the program ends.
//@ stdout: sorted
//> ERR_WORKER_MESSAGING_FAILED
//> ERR_WORKER_MESSAGING_TIMEOUT
//> ERR_WORKER_MESSAGING_TIMEOUT
//> exit 0

const { Worker, postMessageToThread } = require("worker_threads");
const word = new Int32Array(new SharedArrayBuffer(4));
const source = "Atomics.wait(require('worker_threads').workerData, 0, 0)";
const worker = new Worker(source, { eval: true, workerData: word });
worker.on("exit", (code) => console.log("exit", code));
(async () => {
  await postMessageToThread(1, "hello", 20).catch(({ code }) => console.log(code));
  await postMessageToThread(1, "hello", undefined, 20).catch(({ code }) => console.log(code));
  // Without a timeout it waits as long as there is hope.
  const asked = postMessageToThread(1, "hello").catch(({ code }) => console.log(code));
  Atomics.store(word, 0, 1);
  Atomics.notify(word, 0);
  await asked;
})();
