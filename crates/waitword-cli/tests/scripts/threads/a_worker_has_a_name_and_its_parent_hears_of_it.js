//> "" false
//> the constructors are done
//> ERR_INVALID_ARG_TYPE The "options.name" property must be of type string. Received type number (5)
//> worker 1 WorkerThread
//> worker 2 porter
//> worker 3 WorkerThread
//> WorkerThread,porter,WorkerThread
//> [ null, null, null ]

const { Worker, isInternalThread, threadName } = require("worker_threads");
console.log(JSON.stringify(threadName), isInternalThread);
process.on("worker", (worker) => console.log("worker", worker.threadId, worker.threadName));
const source = "const { parentPort, threadName } = require('worker_threads'); parentPort.postMessage(threadName)";
const workers = [undefined, "  porter  ", ""].map((name) => new Worker(source, { eval: true, name }));
console.log("the constructors are done");
const heard = workers.map((worker) => new Promise((resolve) => worker.on("message", resolve)));
const gone = workers.map((worker) => new Promise((resolve) => worker.on("exit", () => resolve(worker.threadName))));
Promise.all(heard).then((names) => console.log(names.join()));
Promise.all(gone).then((names) => console.log(names));
try { new Worker("", { eval: true, name: 5 }); } catch ({ code, message }) { console.log(code, message); }
