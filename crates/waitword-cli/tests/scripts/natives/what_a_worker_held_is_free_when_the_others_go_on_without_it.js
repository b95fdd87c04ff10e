//> exit 1 -1
//> 1
//> 1 ok 0
//> [ 'lock', 'below' ] undefined
//> 0
//> 3

const { locks, MessageChannel, Worker } = require("worker_threads");
const word = new Int32Array(new SharedArrayBuffer(4));
const { port1, port2 } = new MessageChannel();
const worker = new Worker("./holds.js", { workerData: { port: port2, word }, transferList: [port2] });
const said = (what) => new Promise((resolve) => worker.on("message", (message) => message === what && resolve()));
const [ready, isIn] = [said("ready"), said("in")];
worker.on("exit", (code) => console.log("exit", code, worker.threadId));
(async () => {
  await ready;
  const closed = new Promise((resolve) => port1.on("close", resolve));
  const waited = Atomics.waitAsync(word, 0, 0).value;
  const mine = ["lock", "below"].map((name) => locks.request(name, () => name));
  worker.postMessage("search");
  await isIn;
  console.log(await worker.terminate());
  console.log(Atomics.notify(word, 0, 1), await waited, Atomics.notify(word, 0));
  console.log(await Promise.all(mine), await closed);
  console.log((await locks.query()).held.length);
  // Numbers are not given again, and the program ends of itself.
  console.log(new Worker("", { eval: true }).threadId);
})();
//@ file: holds.js
const { BroadcastChannel, locks, parentPort, Worker, workerData } = require("worker_threads");
const { search } = require("./support/search.js");
const { port, word } = workerData;
port.on("message", () => {});
new BroadcastChannel("group").onmessage = () => {};
parentPort.on("message", () => search(() => parentPort.postMessage("in")));
Atomics.waitAsync(word, 0, 0).value.then(() => console.log("notified"));
new Worker("./below.js", { workerData: word }).on("message", () => {
  locks.request("lock", () => (parentPort.postMessage("ready"), new Promise(() => {})));
});
//@ file: below.js
const { locks, parentPort, workerData: word } = require("worker_threads");
Atomics.waitAsync(word, 0, 0);
locks.request("below", () => (parentPort.postMessage(0), new Promise(() => {})));
