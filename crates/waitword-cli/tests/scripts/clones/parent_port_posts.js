// A worker checks what it posts as its page does.
//> TypeError TypeError TypeError TypeError TypeError

const { Worker } = require("node:worker_threads");
const text = `
  const { parentPort } = require("node:worker_threads");
  const results = [];
  for (const bad of [0, false, "X", Symbol(), { transfer: null }]) {
    try { parentPort.postMessage(1, bad); } catch (error) { results.push(error.name); }
  }
  parentPort.postMessage(results.join(" "));`;
new Worker(text, { eval: true }).on("message", (results) => console.log(results));
