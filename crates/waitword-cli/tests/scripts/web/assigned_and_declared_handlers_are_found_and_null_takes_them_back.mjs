//@ file: page.mjs
//@ each HANDLER: onmessage = (event) =>
//@ each HANDLER: self.onmessage = (event) =>
//@ each HANDLER: globalThis.onmessage = event =>
//> null
//> 2

const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
worker.onmessage = () => console.log("replaced");
worker.onmessage = ({ data }) => { console.log(data); };
worker.onerror = () => {};
worker.onerror = null;
console.log(worker.onerror);
worker.postMessage(1);
//@ file: worker.js
HANDLER { postMessage(event.data + 1); close(); }
