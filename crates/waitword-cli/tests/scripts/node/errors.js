// How errors are reported, and what a program's exit code is after one that was heard.
//@ flags: --main-can-block
//@ stdout: as on Node

const { Worker } = require("node:worker_threads");

const ran = (source) => new Promise((resolve) => {
  const events = [];
  const worker = new Worker(source, { eval: true });
  worker.on("error", (error) => events.push(error instanceof Error, error?.name, error?.message));
  worker.on("exit", (code) => resolve([...events, code]));
});
(async () => {
  // What the engine says itself is no part of any standard.
  console.log((await ran("null.x.y")).toSpliced(2, 1));
  console.log(await ran("throw Object.assign(new Error('with more'), { code: 'E_CODE' })"));
  console.log((await ran("undefinedName")).toSpliced(2, 1));
  console.log(await ran("(async () => { await null; throw new URIError('later'); })()"));
  console.log(await ran("setTimeout(() => { throw new Error('from a timer'); }, 1)"));
  console.log(await ran("throw { not: 'an error' }"));
  try {
    Atomics.wait(new Int32Array(4), 0, 0);
  } catch (error) {
    console.log(error.name);
  }
  process.exitCode = 4;
})();
