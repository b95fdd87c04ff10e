// Exit codes of workers, and what they hear of their end.
//@ flags: --main-can-block
//@ stdout: as on Node

const { ran } = require("./support/worker.js");
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
  for (const each of programs) console.log(each, "\n  ", await ran(each));
})();
