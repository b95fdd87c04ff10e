//@ each PATCH in patches.txt
//> 1 x
//> 1 0
//> AbortError 20 m 7 true
//> ERR_INVALID_ARG_TYPE
//> ERR_INVALID_ARG_TYPE
//> ERR_INVALID_ARG_TYPE
//> ERR_INVALID_TRANSFER_OBJECT
//> ERR_INVALID_ARG_TYPE
//> from a blob
//> 8symbol

const { ownKeys } = Reflect;
const { defineProperty, getPrototypeOf } = Object;
const boom = () => { throw "patched"; };
const each = (list, use) => { for (let at = 0; at < list.length; at++) use(list[at]); };
const { log } = console;
const load = require;
const { URL, Blob, Worker: PageWorker, DOMException, MessageChannel, Uint8Array } = globalThis;
const make = (text) => URL.createObjectURL(new Blob([text]));
const { structuredClone, queueMicrotask } = globalThis;
PATCH;
const EventEmitter = load("events");
const emitter = new EventEmitter();
let calls = 0;
const once = () => { calls++; emitter.emit("x"); };
emitter.once("x", once);
log(emitter.listenerCount("x"), emitter.eventNames()[0]);
emitter.emit("x");
log(calls, emitter.listenerCount("x"));
const exception = new DOMException("m", { name: "AbortError", cause: 7 });
const copy = structuredClone(exception);
log(copy.name, copy.code, copy.message, copy.cause, copy instanceof DOMException);
const { port1, port2 } = new MessageChannel();
const bad = [0, "X", { transfer: null }, [0]];
for (let at = 0; at < bad.length; at++) {
  try { port1.postMessage(1, bad[at]); log("taken"); } catch (error) { log(error.code); }
}
try { queueMicrotask(1); } catch (error) { log(error.code); }
const worker = new PageWorker(make("postMessage('from a blob'); close();"));
worker.onmessage = (event) => {
  log(event.data);
  const { Worker } = load("worker_threads");
  const other = new Worker(new URL("data:text/javascript,import { parentPort } from 'node:worker_threads'; parentPort.postMessage(8); throw Symbol('s')"));
  let got = "";
  other.on("message", (value) => { got += value; });
  other.on("error", (error) => { got += typeof error; });
  other.on("exit", () => log(got));
};
