// Each worker makes more, and all stay: they take no more memory than all may.
//@ flags: --total-memory 32M --timeout 50
//@ memory: 100
//> true

const { Worker, workerData, isMainThread, parentPort } = require("worker_threads");
const counts = workerData ?? new Int32Array(new SharedArrayBuffer(8));
const [MADE, REFUSED] = [0, 1];
const workers = [];
const isRefusal = ({ code, message }) => code === "ERR_WORKER_INIT_FAILED" || /out of memory/.test(message);
// What is left may be too little for a worker that has begun, too.
const failed = (error) => { if (!isRefusal(error)) throw error; };
for (let at = 0; at < 3; at++) {
  try {
    workers.push(new Worker(__filename, { workerData: counts }).on("error", failed));
    Atomics.add(counts, MADE, 1);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    Atomics.add(counts, REFUSED, 1);
    Atomics.notify(counts, REFUSED);
  }
}
if (!isMainThread) parentPort.on("message", () => {});
else (async () => {
  await Atomics.waitAsync(counts, REFUSED, 0).value;
  // There is room for this as soon as the first of them has ended.
  for (;;) try {
    await Promise.all(workers.map((each) => each.terminate()));
    break;
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
  console.log(Atomics.load(counts, MADE) > 3);
  done();
})();
