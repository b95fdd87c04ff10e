const { Worker } = require("worker_threads");
const words = new Int32Array(new SharedArrayBuffer(16));
Atomics.compareExchange(words, 2, 0, 1);
new Worker("./holds.js", { workerData: words });
new Worker("./ping.js", { workerData: words });
const pong = async () => {
  for (;;) {
    await Atomics.waitAsync(words, 0, 0).value;
    Atomics.store(words, 0, 0);
    Atomics.notify(words, 0);
  }
};
pong();
console.log("begun");
