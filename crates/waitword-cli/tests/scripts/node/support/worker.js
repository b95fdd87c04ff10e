// Runs a program in a worker, which can `say` something: what it said, its errors, its exit code. Which of the first two come
// first is open in Node.
const { Worker } = require("node:worker_threads");

const SAY = `const { parentPort } = require("worker_threads"); const say = (...it) => parentPort.postMessage(it.join(" "));\n`;

exports.ran = (source) => new Promise((resolve) => {
  const [events, errors] = [[], []];
  const worker = new Worker(SAY + source, { eval: true });
  worker.on("message", (message) => events.push(message));
  worker.on("error", (error) => {
    const { name, message, code, detail } = error ?? {};
    errors.push([typeof error, name, message, code, detail, error instanceof Error, error instanceof Error ? 0 : error]);
  });
  worker.on("exit", (code) => resolve([...events, ...errors, code]));
});
