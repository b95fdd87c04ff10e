// What a program hears of its errors and of its end, and what its exit code is then: each in a worker, for the main agent ends only once.
//@ flags: --main-can-block
//@ stdout: as on Node

const { ran } = require("./support/worker.js");

const programs = [
  "process.on('uncaughtException', (error, origin) => say(error.message, origin)); setTimeout(() => say('goes on'), 5); throw new Error('one')",
  "process.on('uncaughtException', (error, origin) => say(error.message, origin)); process.nextTick(() => { throw new Error('tick') }); process.nextTick(() => say('next'))",
  "process.on('uncaughtException', (error) => say(error.message)); queueMicrotask(() => { throw new Error('job') }); queueMicrotask(() => say('next'))",
  "process.on('uncaughtException', () => { throw new Error('inner') }); throw new Error('outer')",
  "process.on('uncaughtExceptionMonitor', (error, origin) => say(error.message, origin)); throw new Error('watched')",
  "process.on('unhandledRejection', (reason, promise) => say(reason, promise instanceof Promise)); Promise.reject(1); setTimeout(() => Promise.reject(2), 1)",
  "process.on('uncaughtException', (error, origin) => say(error, origin)); Promise.reject(1)",
  "Promise.reject(42)",
  "Promise.reject(new RangeError('of a promise'))",
  "const late = Promise.reject(1); queueMicrotask(() => late.catch(() => say('in time')))",
  "process.on('exit', (code) => say('exit', code)); throw new Error('x')",
  "process.on('exit', () => process.exit(4)); throw new Error('x')",
  "process.exitCode = 3; process.on('exit', (code) => { say('exit', code, process.exitCode); process.exitCode = 6; })",
  "let rounds = 0; process.on('beforeExit', (code) => { say('before', code); if (rounds++ < 2) setTimeout(() => say('more'), 1); })",
  "process.on('exit', (code) => say('exit', code)); process.exit('5')",
  "for (const code of ['abc', {}, 1.5]) try { process.exitCode = code; } catch (error) { say(error.name, error.code); }",
  "class MyError extends Error { name = 'MyError'; detail = { a: 1 }; } throw new MyError('mine')",
];
(async () => {
  for (const each of programs) console.log(await ran(each));
})();
