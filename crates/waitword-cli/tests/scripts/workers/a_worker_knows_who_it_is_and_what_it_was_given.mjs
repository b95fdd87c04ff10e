//> true 0 null null
//> 1
//> online
//> {
//>   isMainThread: false,
//>   threadId: 1,
//>   workerData: { a: [ 1 ] },
//>   argv: [ 'x' ]
//> }
//> exit 0 -1

import { Worker, isMainThread, parentPort, threadId, workerData } from "node:worker_threads";
console.log(isMainThread, threadId, parentPort, workerData);
const worker = new Worker(new URL("./worker.mjs", import.meta.url), { workerData: { a: [1] }, argv: ["x"] });
console.log(worker.threadId);
worker.on("online", () => console.log("online"));
worker.on("message", (message) => console.log(message));
worker.on("exit", (code) => console.log("exit", code, worker.threadId));
//@ file: worker.mjs
import { isMainThread, parentPort, threadId, workerData } from "worker_threads";
parentPort.postMessage({ isMainThread, threadId, workerData, argv: process.argv.slice(2) });
