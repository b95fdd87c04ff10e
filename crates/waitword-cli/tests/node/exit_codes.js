// Exit codes of workers, and what they hear of their end.
const { Worker } = require("node:worker_threads");
const told = (source) => new Promise((resolve) => {
  const [events, errors] = [[], []];
  const worker = new Worker(`const { parentPort } = require("worker_threads"); const say = (...it) => parentPort.postMessage(it.join(" "));\n${source}`, { eval: true });
  worker.on("message", (message) => events.push(message));
  worker.on("error", (error) => errors.push([typeof error, error?.name, error?.message, error?.code, error instanceof Error, error instanceof Error ? 0 : error]));
  worker.on("exit", (code) => resolve([...events, ...errors, code]));
});
const programs = [
  "process.on('exit', (c) => { say(c, process.exitCode); process.exitCode = 98 }); throw new Error('x')",
  "process.exitCode = 42; process.exit(undefined)",
  "process.exitCode = 42; process.exit()",
  "process.exitCode = 42; process.exit(null)",
  "process.exitCode = 42; process.exit(7)",
  "process.exitCode = 42; process.exit(0)",
  "process.exitCode = 42; process.exitCode = undefined;",
  "process.exitCode = 42; process.exitCode = null;",
  "process.exitCode = '9';",
  "process.exitCode = '';",
  "process.exitCode = true;",
  "process.exitCode = '0x10';",
  "process.exit('x')",
  "process.exit(true)",
  "process.exit({})",
  "process.exit(1.5)",
  "process.exit(256 + 3)",
  "process.exit(-1)",
  "say(process.exitCode); process.on('exit', (c) => say(c, process.exitCode));",
  "process.exitCode = 5; process.on('exit', (c) => { say(c, process.exitCode); process.exit() }); ",
  "process.exitCode = 5; process.on('exit', (c) => { say(c, process.exitCode); process.exit(6) }); ",
  "process.on('exit', (c) => { say(c); process.exitCode = undefined }); throw new Error('x')",
  "process.on('exit', (c) => { say(c); process.exitCode = 0 }); throw new Error('x')",
  "process.on('exit', (c) => { say(c); throw new Error('in exit') }); throw new Error('x')",
  "process.on('exit', () => { process.exitCode = 98 }); Promise.reject(new Error('p'))",
  "process.exitCode = 4; throw new Error('x')",
  "process.exitCode = 4; process.on('uncaughtException', () => say('u', process.exitCode)); throw new Error('x')",
  "process.on('beforeExit', (c) => { say('b', c); process.exitCode = 3 }); process.on('exit', (c) => say('e', c))",
  "process.exitCode = 3; process.on('beforeExit', (c) => { say('b', c);  })",
  "process.on('exit', () => say('1')); process.on('exit', () => say('2')); process.exit(3); say('never')",
];
(async () => {
  for (const each of programs) console.log(each, "\n  ", await told(each));
})();
