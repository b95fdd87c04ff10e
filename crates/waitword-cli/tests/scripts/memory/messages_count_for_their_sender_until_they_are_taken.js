//@ flags: --memory-limit 8M
//> DataCloneError The message could not be cloned: out of memory
//> DataCloneError The message could not be cloned: out of memory
//> DataCloneError The message could not be cloned: out of memory
//> true true
//> DataCloneError 1048576
//> still here
//> 0
//> true
//> true 0
//> true

const { Worker, receiveMessageOnPort } = require("worker_threads");
const { MIB, fill } = require("./support/fill.js");
const text = "x".repeat(MIB / 4);
const { port1, port2 } = new MessageChannel();
const rounds = [];
for (let round = 0; round < 3; round++) {
  const [taken, error] = fill(() => port1.postMessage(text));
  rounds.push(taken);
  console.log(error.name, error.message);
  while (receiveMessageOnPort(port2));
}
console.log(rounds[0] > 20, rounds[0] === rounds[2]);
// One that fails has moved nothing.
const inner = new MessageChannel();
const bytes = new Uint8Array(MIB);
fill(() => port1.postMessage(text));
try {
  port1.postMessage([bytes, inner.port1], [bytes.buffer, inner.port1]);
} catch (error) {
  console.log(error.name, bytes.length);
}
inner.port1.postMessage("still here");
console.log(receiveMessageOnPort(inner.port2).message);
receiveMessageOnPort(port2);
receiveMessageOnPort(port2);
receiveMessageOnPort(port2);
receiveMessageOnPort(port2);
receiveMessageOnPort(port2);
port1.postMessage([bytes, inner.port1], [bytes.buffer, inner.port1]);
console.log(bytes.length);
// A port that is closed gives back what waited there.
port2.close();
setTimeout(() => {
  const { port1, port2 } = new MessageChannel();
  console.log(fill(() => port1.postMessage(text))[0] > 20);
  port2.close();
  // So does a worker that never reads.
  const worker = new Worker("Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)", { eval: true });
  setTimeout(() => {
    console.log(fill(() => worker.postMessage(text))[0] > 20, fill(() => worker.postMessage(text))[0]);
    worker.terminate().then(() => {
      const { port1 } = new MessageChannel();
      console.log(fill(() => port1.postMessage(text))[0] > 20);
      port1.close();
    });
  });
});
