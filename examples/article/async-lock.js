// One lock, used both ways at once: three workers block in `lock`, the main agent, which must not block, uses
// `executeLocked`. All four increment one plain counter in shared memory.
//
//   waitword run examples/article/async-lock.js        node examples/article/async-lock.js
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { AsyncLock } from './two-state-lock.js';

const WORKERS = 3;
const ROUNDS = 2000;
const [READY, START] = [0, 1]; // words of the start signal: no agent may finish before the others have begun

if (isMainThread) {
  const shared = {
    lock: new SharedArrayBuffer(4),
    counter: new SharedArrayBuffer(4),
    signal: new SharedArrayBuffer(8),
  };
  const workers = Array.from({ length: WORKERS }, (_, i) => startWorker(`worker ${i + 1}`, shared));
  const rows = await Promise.all([runMain(shared), ...workers]);
  report(rows, new Int32Array(shared.counter)[0]);
} else {
  runWorker(workerData);
}

async function runMain(shared) {
  const lock = new AsyncLock(shared.lock);
  const counter = new Int32Array(shared.counter);
  await startTogether(new Int32Array(shared.signal));

  const waits = countWaits();
  for (let i = 0; i < ROUNDS; i++) await lock.executeLocked(() => increment(counter));
  return { agent: 'main', how: 'executeLocked', entered: ROUNDS, waited: waits.total };
}

function runWorker(shared) {
  const lock = new AsyncLock(shared.lock);
  const counter = new Int32Array(shared.counter);
  const signal = new Int32Array(shared.signal);
  Atomics.add(signal, READY, 1);
  Atomics.notify(signal, READY);
  Atomics.wait(signal, START, 0);

  const waits = countWaits();
  for (let i = 0; i < ROUNDS; i++) {
    lock.lock();
    increment(counter);
    lock.unlock();
  }
  parentPort.postMessage({ how: 'lock, unlock', entered: ROUNDS, waited: waits.total });
}

/** Starts a worker on this file. The promise brings its row of the table. */
function startWorker(agent, shared) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(import.meta.filename, { workerData: shared });
    worker.on('message', (row) => resolve({ agent, ...row }));
    worker.on('error', reject);
  });
}

async function startTogether(signal) {
  for (let ready; (ready = Atomics.load(signal, READY)) < WORKERS; ) {
    await Atomics.waitAsync(signal, READY, ready).value;
  }
  Atomics.store(signal, START, 1);
  Atomics.notify(signal, START);
}

/** Plain on purpose: load, spin, store. Two agents in here at once would lose one of the two increments. */
function increment(counter) {
  const seen = counter[0];
  for (const until = performance.now() + 0.01; performance.now() < until; ); // 10 µs on every engine
  counter[0] = seen + 1;
}

/** Counts the waits of this agent. The class needs no counter of its own. 'not-equal' is not a wait. */
function countWaits() {
  const { wait, waitAsync } = Atomics;
  const waits = { total: 0 };
  Atomics.wait = (...args) => {
    const outcome = wait(...args);
    if (outcome !== 'not-equal') waits.total++;
    return outcome;
  };
  Atomics.waitAsync = (...args) => {
    const result = waitAsync(...args);
    if (result.async) waits.total++;
    return result;
  };
  return waits;
}

function report(rows, total) {
  const expected = rows.length * ROUNDS;
  const line = (agent, how, entered, waited) =>
    console.log(`  ${agent.padEnd(10)}${how.padEnd(15)}${`${entered}`.padStart(9)}${`${waited}`.padStart(9)}`);

  console.log(`One lock, one plain counter, ${rows.length} agents\n`);
  line('agent', 'acquires with', 'entered', 'waited');
  for (const { agent, how, entered, waited } of rows) line(agent, how, entered, waited);
  console.log(`\n  total ${total} of ${expected}: ${total === expected ? 'nothing lost' : 'INCREMENTS LOST'}`);

  // An uncaught error is exit code 1 on every host.
  if (total !== expected) throw new Error(`${expected - total} increments were lost: two agents held the lock at once`);
}
