// An open port with a listener keeps its agent and a silent or unreferenced one does not.
//> late
//> closed, for its worker is gone

const { MessageChannel, Worker } = require("worker_threads");
const { port1, port2 } = new MessageChannel();
const source = `const { workerData: port } = require("worker_threads");
  setTimeout(() => port.postMessage("late"), 5);`;
new Worker(source, { eval: true, workerData: port2, transferList: [port2] }).unref();
port1.on("message", (value) => console.log(value));
port1.on("close", () => console.log("closed, for its worker is gone"));
