//> true true false
//> true
//> microtask
//> on a
//> message a true
//> MessageEvent a
//> once a
//> on b
//> message b true
//> MessageEvent b
//> closed

const { MessageChannel, MessagePort } = require("worker_threads");
const { port1, port2 } = new MessageChannel();
console.log(port1 instanceof MessagePort, MessageChannel === globalThis.MessageChannel, port2.hasRef());
port2.on("message", (value) => console.log("on", value));
port2.addEventListener("message", ({ data, target, type }) => console.log(type, data, target === port2));
port2.onmessage = (event) => console.log(event.constructor.name, event.data);
port2.once("message", (value) => console.log("once", value));
console.log(port2.hasRef());
port1.postMessage("a");
port1.postMessage("b");
Promise.resolve().then(() => console.log("microtask"));
port1.close();
port2.on("close", () => console.log("closed"));
