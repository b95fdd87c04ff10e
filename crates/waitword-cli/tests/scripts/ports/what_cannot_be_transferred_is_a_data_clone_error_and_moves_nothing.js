//> DataCloneError
//> DataCloneError
//> DataCloneError
//> DataCloneError
//> DataCloneError
//> DataCloneError
//> DataCloneError
//> TypeError
//> false
//> true true
//> lost

const { MessageChannel, MessagePort, parentPort } = require("worker_threads");
const { port1, port2 } = new MessageChannel();
const other = new MessageChannel();
const buffer = new ArrayBuffer(1);
const closed = new MessageChannel().port1;
closed.close();
const sent = new MessageChannel().port1;
structuredClone(sent, { transfer: [sent] });
const hostile = { get x() { other.port2.close(); } };
const attempts = [
  () => port1.postMessage(1, [port1]),
  () => port1.postMessage(other.port1),
  () => port1.postMessage(1, [other.port1, other.port1]),
  () => port1.postMessage(1, [buffer, closed]),
  () => port1.postMessage(1, [buffer, sent]),
  () => port1.postMessage(hostile, [buffer, other.port2]),
  () => structuredClone({ p: other.port1 }),
  () => new MessagePort(),
];
for (const attempt of attempts) {
  try {
    attempt();
    console.log("no error");
  } catch (error) {
    console.log(error.name);
  }
}
console.log(buffer.detached);
const moved = structuredClone({ p: other.port1 }, { transfer: [other.port1] }).p;
console.log(moved instanceof MessagePort, moved !== other.port1);
// As the standard has it: a channel whose one end goes through the other is lost.
const lost = new MessageChannel();
lost.port1.on("close", () => console.log("lost"));
lost.port1.postMessage("x", [lost.port2]);
