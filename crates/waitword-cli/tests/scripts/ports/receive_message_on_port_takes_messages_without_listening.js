//@ stdout: sorted
//> TypeError ERR_INVALID_ARG_TYPE
//> TypeError ERR_INVALID_ARG_TYPE
//> TypeError ERR_INVALID_ARG_TYPE
//> event 3
//> { message: 'for the blocked' } undefined
//> { message: 2 }
//> { message: { n: 1 } } { message: undefined } undefined

const { MessageChannel, Worker, receiveMessageOnPort } = require("worker_threads");
const { port1, port2 } = new MessageChannel();
port1.postMessage({ n: 1 });
port1.postMessage(undefined);
console.log(receiveMessageOnPort(port2), receiveMessageOnPort(port2), receiveMessageOnPort(port2));
for (const wrong of [{}, null, 1]) {
  try {
    receiveMessageOnPort(wrong);
  } catch (error) {
    console.log(error.name, error.code);
  }
}
// What is taken so does not come as an event; what comes after it does.
port2.on("message", (value) => { console.log("event", value); port2.close(); });
port1.postMessage(2);
port1.postMessage(3);
console.log(receiveMessageOnPort(port2));
// A worker that blocks, and looks at its port when it is woken.
const word = new Int32Array(new SharedArrayBuffer(4));
const source = `const { parentPort, receiveMessageOnPort, workerData: word } = require("worker_threads");
  Atomics.wait(word, 0, 0);
  console.log(receiveMessageOnPort(parentPort), receiveMessageOnPort(parentPort));`;
const worker = new Worker(source, { eval: true, workerData: word });
worker.postMessage("for the blocked");
word[0] = 1;
Atomics.notify(word, 0);
