// Two agents that block take turns: there and back, between two workers, and between the main agent and a worker.

import { Worker } from "node:worker_threads";
import { figure, quick } from "./support/report.js";

const ROUNDS = quick ? 20 : 20_000;

// Each side waits for its number. The first one takes the time, because only it knows when the last turn is over.
const player = `
  const { parentPort, workerData: { words, me, rounds } } = require("node:worker_threads");
  (${play})(words, me, rounds / 10 | 0);
  const start = performance.now();
  (${play})(words, me, rounds);
  parentPort.postMessage(((performance.now() - start) * 1e6) / rounds);
`;

// The first word says whose turn it is; the others are the players' lines, so that a notify has one to wake.
function play(words, me, rounds) {
  for (let i = 0; i < rounds; i++) {
    for (let turn; (turn = Atomics.load(words, 0)) !== me; ) Atomics.wait(words, 0, turn);
    Atomics.store(words, 0, 1 - me);
    Atomics.notify(words, 0, 1);
  }
}

const start = (me, words) => new Worker(player, { eval: true, workerData: { words, me, rounds: ROUNDS } });
const hear = (worker) => new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
const words = () => new Int32Array(new SharedArrayBuffer(4));

{
  const shared = words();
  const [each] = await Promise.all([0, 1].map((me) => hear(start(me, shared))));
  figure("worker and worker", each);
}
{
  const shared = words();
  const other = hear(start(1, shared));
  // Starting the worker is another figure: the first rounds wait for it.
  play(shared, 0, (ROUNDS / 10) | 0);
  const begin = performance.now();
  play(shared, 0, ROUNDS);
  figure("main agent and worker", ((performance.now() - begin) * 1e6) / ROUNDS);
  await other;
}
