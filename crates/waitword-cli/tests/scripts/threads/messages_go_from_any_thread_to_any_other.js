//> undefined
//> 1 had a text from 0 (1); 2 had forwarded by 1 from 1 (2)
//> moved to 2
//> ERR_WORKER_MESSAGING_ERRORED
//> ERR_WORKER_MESSAGING_FAILED
//> ERR_WORKER_MESSAGING_FAILED
//> ERR_WORKER_MESSAGING_FAILED
//> ERR_WORKER_MESSAGING_SAME_THREAD
//> 25
//> ERR_OUT_OF_RANGE
//> ERR_INVALID_ARG_TYPE
//> ERR_WORKER_MESSAGING_FAILED

const { MessageChannel, Worker, postMessageToThread } = require("worker_threads");
const source = `
  const { Worker, parentPort, postMessageToThread, threadId, workerData } = require("worker_threads");
  parentPort.on("message", () => {});
  process.on("workerMessage", (value) => {
    if (value === "throw") throw new Error("refused");
  });
  process.on("workerMessage", async (value, from) => {
    if (value === "forward") await postMessageToThread(threadId === 1 ? 2 : 1, "forwarded by " + threadId);
    else if (value.port) value.port.postMessage("moved to " + threadId), value.port.close();
    else await postMessageToThread(0, threadId + " had " + value + " from " + from);
  });
  parentPort.postMessage("ready");`;
const workers = [1, 2].map(() => new Worker(source, { eval: true }));
const quiet = new Worker("require('worker_threads').parentPort.once('message', () => {})", { eval: true });
const heard = [];
let wake;
process.on("workerMessage", (value, from) => (heard.push(`${value} (${from})`), wake?.()));
const next = () => new Promise((resolve) => (wake = resolve));
const why = ({ code, name }) => console.log(code ?? name);
(async () => {
  // One that has not started yet gets it when it has.
  const first = next();
  console.log(await postMessageToThread(1, "a text"));
  await first;
  const second = next();
  await postMessageToThread(1, "forward", 60_000);
  await second;
  console.log(heard.join("; "));
  const { port1, port2 } = new MessageChannel();
  port1.on("message", (text) => console.log(text));
  const closed = new Promise((resolve) => port1.on("close", resolve));
  await postMessageToThread(2, { port: port2 }, [port2]);
  await closed;
  await postMessageToThread(1, "throw").catch(why);
  await postMessageToThread(3, "nobody listens").catch(why);
  await postMessageToThread(99, "nobody is there").catch(why);
  await postMessageToThread("1", "no number").catch(why);
  await postMessageToThread(0, "to oneself").catch(why);
  await postMessageToThread(1, () => {}).catch(why);
  await postMessageToThread(1, 1, [], -1).catch(why);
  await postMessageToThread(1, 1, [], "soon").catch(why);
  // One that ends without having read it.
  await Promise.all([quiet.terminate(), postMessageToThread(3, "too late").catch(why)]);
  for (const worker of workers) worker.terminate();
})();
