// Three agents, each of which blocks until the two others have come: two of them on one thread would never meet.
//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { Worker, isMainThread, workerData } = require("node:worker_threads");
const { check, word } = require("./support/check.js");

const AGENTS = 3;
const array = workerData ?? word();
if (isMainThread) for (let worker = 1; worker < AGENTS; worker++) new Worker(__filename, { workerData: array });
Atomics.add(array, 0, 1);
Atomics.notify(array, 0);
for (let here; (here = Atomics.load(array, 0)) < AGENTS; ) Atomics.wait(array, 0, here);
if (isMainThread) check("they met", array[0], AGENTS);
