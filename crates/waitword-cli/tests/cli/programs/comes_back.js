const { BroadcastChannel, locks, Worker } = require("worker_threads");
new BroadcastChannel("group").onmessage = () => console.error("reached");
const word = new Int32Array(new SharedArrayBuffer(4));
const worker = new Worker("./worker.js", { workerData: word });
const fits = () => {
  try {
    return new Worker("", { eval: true });
  } catch ({ code }) {
    return console.error(code);
  }
};
worker.on("message", async (message) => {
  if (message !== "writes") console.error(message);
  console.error(await worker.terminate());
  if (fits()) console.error("a place was free");
  setInterval(() => {
    if (!fits()) return;
    console.error(Atomics.notify(word, 0));
    locks.request("lock", { ifAvailable: true }, (lock) => (console.error(lock.name), process.exit(3)));
  }, 10);
});
