//> main [ 'waits already', true ]
//> main closed
//> came back true
//> through two agents: hello

const { MessageChannel, MessagePort, Worker } = require("worker_threads");
const data = new MessageChannel();
const later = new MessageChannel();
data.port1.postMessage("waits already");
later.port1.postMessage("waits too");
const { workerData, transferList } = { workerData: { port: data.port2 }, transferList: [data.port2] };
const worker = new Worker(__dirname + "/worker.js", { workerData, transferList });
worker.postMessage([later.port2, "list"], [later.port2]);
for (const { port2 } of [data, later]) {
  port2.postMessage("nobody");
  port2.on("message", () => console.log("never"));
}
data.port1.on("message", (value) => { console.log("main", value); });
data.port1.on("close", () => console.log("main closed"));
worker.on("message", (port) => {
  console.log("came back", port instanceof MessagePort);
  port.on("message", (value) => console.log("through two agents:", value));
  later.port1.postMessage("hello");
  later.port1.close();
});
//@ file: worker.js
const { MessagePort, parentPort, workerData } = require("worker_threads");
workerData.port.on("message", (value) => {
  workerData.port.postMessage([value, workerData.port instanceof MessagePort]);
  workerData.port.close();
});
parentPort.once("message", ([port, text]) => {
  port.once("message", (value) => {
    parentPort.postMessage(port, [port]);
    workerData.port.postMessage(value + text);
  });
});
