const { BroadcastChannel, locks, parentPort, Worker, workerData } = require("worker_threads");
const group = new BroadcastChannel("group");
try {
  parentPort.postMessage("writes");
  console.log("x".repeat(1 << 20));
} finally {
  for (const reach of [() => console.error("reached"), () => parentPort.postMessage("reached"), () => group.postMessage(0),
    () => locks.request("lock", () => new Promise(() => {})), () => new Worker("", { eval: true }),
    () => Atomics.waitAsync(workerData, 0, 0), () => Atomics.wait(workerData, 0, 0)]) {
    try { reach(); } finally { continue; }
  }
}
