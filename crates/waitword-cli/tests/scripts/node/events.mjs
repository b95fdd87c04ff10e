// node:events: the emitter, and events as promises.
//@ flags: --main-can-block
//@ stdout: as on Node

import EventEmitter, { once } from "node:events";
import { inherits } from "node:util";
import { Worker } from "node:worker_threads";

const emitter = new EventEmitter();
const last = (...args) => console.log("last", args);
emitter.on("x", last).prependListener("x", () => console.log("first")).once("x", () => console.log("once"));
emitter.prependOnceListener("x", () => console.log("before"));
console.log(emitter.emit("x", 1, 2), emitter.emit("y"), emitter.listenerCount("x"), emitter.eventNames());
emitter.off("x", last);
emitter.emit("x");
emitter.removeAllListeners();
console.log(emitter.eventNames());
for (const error of [new TypeError("of a class"), "text", undefined]) {
  try {
    emitter.emit("error", error);
  } catch (thrown) {
    console.log(thrown.name, thrown.code, thrown.message);
  }
}
try {
  emitter.on("x", null);
} catch (error) {
  console.log(error.code, error.message);
}
function Old() {
  EventEmitter.call(this);
}
inherits(Old, EventEmitter);
new Old().on("z", function () { console.log(this instanceof Old); }).emit("z");

const worker = new Worker("const { parentPort } = require('worker_threads'); parentPort.once('message', (it) => parentPort.postMessage(2 * it))", { eval: true });
worker.postMessage(21);
console.log(await once(worker, "message"), await once(worker, "exit"));
console.log(await once(new Worker("throw new Error('bad')", { eval: true }), "message").catch((error) => error.message));
const controller = new AbortController();
const never = once(emitter, "never", { signal: controller.signal });
controller.abort();
console.log(await never.catch((error) => [error.name, error.code]), emitter.listenerCount("never"));
setImmediate(() => emitter.emit("once", 1));
console.log(await once(emitter, "once"), emitter.listenerCount("error"), emitter.listenerCount("once"));
