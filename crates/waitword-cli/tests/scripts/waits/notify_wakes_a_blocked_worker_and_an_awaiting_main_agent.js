//> main 100

const { Worker, isMainThread, workerData: words } = require("worker_threads");
const [PING, PONG, ROUNDS] = [0, 1, 100];
if (isMainThread) {
  const words = new Int32Array(new SharedArrayBuffer(8));
  new Worker(__filename, { workerData: words });
  (async () => {
    for (let round = 1; round <= ROUNDS; round++) {
      Atomics.store(words, PING, round);
      Atomics.notify(words, PING);
      while (Atomics.load(words, PONG) < round) await Atomics.waitAsync(words, PONG, round - 1).value;
    }
    console.log("main", words[PONG]);
  })();
} else {
  for (let round = 1; round <= ROUNDS; round++) {
    while (Atomics.load(words, PING) < round) Atomics.wait(words, PING, round - 1);
    Atomics.store(words, PONG, round);
    Atomics.notify(words, PONG);
  }
}
