// The worker, the only other thing that kept this program alive, is gone by then.
//@ flags: --main-can-block
//@ stdout: checks
//@ node: same
// On Node: Node does not wait for promises of waitAsync, with a deadline or without.
//@ node differs: settled

const { Worker, isMainThread, workerData } = require("node:worker_threads");
const { check, word } = require("./support/check.js");

if (isMainThread) {
  const array = word();
  Atomics.waitAsync(array, 0, 0).value.then((outcome) => check("settled", outcome, "ok"));
  new Worker(__filename, { workerData: array });
} else {
  Atomics.notify(workerData, 0);
}
