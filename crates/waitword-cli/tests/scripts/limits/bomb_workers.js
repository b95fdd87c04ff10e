// A fork bomb ends in errors.
//@ flags: --max-workers 20 --timeout 50
//> 20 43

const { Worker, workerData, isMainThread } = require("worker_threads");
const counts = workerData ?? new Int32Array(new SharedArrayBuffer(8));
const [MADE, REFUSED] = [0, 1];
for (let at = 0; at < 3; at++) {
  try {
    new Worker(__filename, { workerData: counts });
    Atomics.add(counts, MADE, 1);
  } catch (error) {
    if (error.code !== "ERR_WORKER_INIT_FAILED" && !/out of memory/.test(error.message)) throw error;
    Atomics.add(counts, REFUSED, 1);
    Atomics.notify(counts, REFUSED);
  }
}

// With 20 alive, 3 attempts of each and 3 of the main agent, there are 63.
if (isMainThread) (async () => {
  for (let refused; (refused = Atomics.load(counts, REFUSED)) < 43; ) await Atomics.waitAsync(counts, REFUSED, refused).value;
  console.log(Atomics.load(counts, MADE), Atomics.load(counts, REFUSED));
  process.exit(0);
})();
else require("worker_threads").parentPort.on("message", () => {});
