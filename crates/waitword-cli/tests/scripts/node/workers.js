// The life of workers: what they know, what they report, how they end.
//@ flags: --main-can-block
//@ stdout: as on Node

const { Worker, isMainThread, parentPort, threadId, workerData } = require("node:worker_threads");

const ended = (worker) => new Promise((resolve) => {
  const events = [];
  worker.on("online", () => events.unshift("online")); // on Node it may come after the first message
  worker.on("message", (message) => events.push(["message", message]));
  worker.on("error", (error) => events.push(["error", error?.name, error?.message ?? error]));
  worker.once("exit", (code) => resolve([...events, ["exit", code, worker.threadId]]));
});

if (isMainThread) {
  (async () => {
    console.log(threadId, parentPort);
    for (const role of ["quiet", "talks", "throws", "throws a string", "rejects", "exits", "sets its exit code", "listens once", "nested"]) {
      const worker = new Worker(__filename, { workerData: { role }, argv: ["--flag", role] });
      if (role === "listens once") worker.postMessage("heard");
      console.log(role, await ended(worker));
    }
    const source = "const { parentPort, workerData } = require('node:worker_threads'); parentPort.postMessage([workerData, process.argv.length])";
    console.log("eval", await ended(new Worker(source, { eval: true, workerData: "data", argv: [1, 2] })));
    const busy = new Worker("for (;;);", { eval: true });
    const end = ended(busy);
    await new Promise((resolve) => busy.once("online", resolve));
    console.log("terminated", await busy.terminate(), await end);
  })();
} else {
  const roles = {
    quiet() {},
    talks() {
      for (const value of [1, "two", { three: [3] }]) parentPort.postMessage(value);
      parentPort.postMessage([isMainThread, process.argv.slice(2), typeof threadId]);
    },
    throws() { throw new RangeError("out of range"); },
    "throws a string"() { throw "text"; },
    rejects() { Promise.reject(new TypeError("rejected")); },
    exits() { setTimeout(() => {}, 60_000); process.exit(7); },
    "sets its exit code"() { process.exitCode = 3; },
    "listens once"() { parentPort.once("message", (message) => parentPort.postMessage(message)); },
    nested() {
      new Worker("require('node:worker_threads').parentPort.postMessage('grandchild')", { eval: true })
        .on("message", (message) => parentPort.postMessage(message));
    },
  };
  roles[workerData.role]();
}
