// An open port with a listener keeps its agent and a silent or unreferenced one does not.
//> exit

const { MessageChannel } = require("worker_threads");
const silent = new MessageChannel();
silent.port1.postMessage("never read");
const unreferenced = new MessageChannel();
unreferenced.port2.on("message", () => console.log("never")).unref();
const gone = new MessageChannel();
const listener = () => console.log("never");
gone.port2.on("message", listener);
gone.port2.off("message", listener);
process.on("exit", () => console.log("exit"));
