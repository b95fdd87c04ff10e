// A worker that has been notified but has not got up yet, or that is about to find its word changed, looks blocked
// while everyone else sleeps. Each round gives both a chance.
//> done 900

const { Worker, isMainThread, workerData: words } = require("worker_threads");
const [TURN, ROUNDS, WORKERS] = [0, 300, 3];
if (isMainThread) {
  const words = new Int32Array(new SharedArrayBuffer(4));
  for (let me = 0; me < WORKERS; me++) new Worker(__filename, { workerData: words, argv: [me] });
} else {
  const me = Number(process.argv[2]);
  for (let turn = me; turn < ROUNDS * WORKERS; turn += WORKERS) {
    for (let now; (now = Atomics.load(words, TURN)) !== turn; ) Atomics.wait(words, TURN, now);
    Atomics.store(words, TURN, turn + 1);
    Atomics.notify(words, TURN);
  }
  if (me === WORKERS - 1) console.log("done", words[TURN]);
}
