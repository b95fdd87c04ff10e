//@ file: page.js
//@ stdout: sorted
//> object [ true, true, 'bob', 3 ]
//> object done
//> object true
//> once
//> page [ true, true, 'bob', 3 ] message true true
//> page done message true true
//> page true message true true
//> true function
//> woken 1

const memory = new Int32Array(new SharedArrayBuffer(4));
const worker = new Worker("worker.js", { name: "bob" });
worker.onmessage = (event) => {
  console.log("page", event.data, event.type, event.target === worker, event instanceof MessageEvent);
  if (event.data === "done") worker.terminate();
};
worker.addEventListener("message", { handleEvent({ data }) { console.log("object", data); } });
worker.addEventListener("message", () => console.log("once"), { once: true });
worker.postMessage({ memory });
Atomics.waitAsync(memory, 0, 0).value.then(() => console.log("woken", memory[0]));
console.log(self === globalThis, typeof require("worker_threads").Worker);
//@ file: worker.js
"use strict";
importScripts("library.js", "data:text/javascript,var fromText = 2;");
let count = 0;
function scope() { return [self === globalThis, this === undefined, name, fromLibrary + fromText]; }
self.onmessage = function ({ data: { memory } }) {
  memory[0] = ++count;
  postMessage(scope());
  postMessage(this === self);
  Atomics.notify(memory, 0);
  self.postMessage("done");
};
//@ file: library.js
var fromLibrary = 1;
