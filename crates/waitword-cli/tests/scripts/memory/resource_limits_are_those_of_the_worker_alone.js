// A worker may have less than its parent, and its error says which limit it was.
//@ flags: --memory-limit 32M
//> 3
//> ERR_WORKER_OUT_OF_MEMORY true

const { Worker } = require("worker_threads");
const { MIB, fill } = require("./support/fill.js");
const source = `const { parentPort } = require("worker_threads");
  let blocks = 0;
  try { for (const all = []; ; blocks++) all.push(new SharedArrayBuffer(1 << 20)); } catch {}
  parentPort.postMessage(blocks);
  for (const all = []; ; ) all.push([all.length]);`;
const worker = new Worker(source, { eval: true, resourceLimits: { maxOldGenerationSizeMb: 4 } });
worker.on("message", (blocks) => console.log(blocks));
worker.on("error", (error) => console.log(error.code, fill(() => blocks.push(new SharedArrayBuffer(MIB)))[0] > 10));
const blocks = [];
