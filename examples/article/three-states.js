// The improved lock at work, used both ways at once: two workers block, two tasks of the main agent await.
//
//   waitword run examples/article/three-states.js        node examples/article/three-states.js
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import './three-state-lock.js';

const WORKERS = 2;
const TASKS = 2;
const ROUNDS = 2000;
const [HERE, GO] = [0, 1]; // words of the starting gate: nobody shall be done before the others have begun

if (isMainThread) {
  const shared = { lock: new SharedArrayBuffer(4), counter: new SharedArrayBuffer(4), gate: new SharedArrayBuffer(8) };
  const lock = new ThreeStateLock(shared.lock);
  const counter = new Int32Array(shared.counter);
  const notifies = countNotifies();

  // Nobody waits: the word goes 0, 1, 0 and no unlock has a reason to notify.
  for (let i = 0; i < ROUNDS; i++) await lock.executeLocked(() => {});
  row('main, alone', ROUNDS, notifies());

  // In company: only the unlocks that somebody may be waiting for notify.
  const workers = Array.from({ length: WORKERS }, () => startWorker(shared));
  await openGate(new Int32Array(shared.gate));
  notifies();
  await Promise.all(Array.from({ length: TASKS }, () => runTask(lock, counter)));
  row(`main, ${TASKS} tasks`, TASKS * ROUNDS, notifies());
  (await Promise.all(workers)).forEach((count, i) => row(`worker ${i + 1}`, ROUNDS, count));

  const expected = (WORKERS + TASKS) * ROUNDS;
  console.log(`\ntotal ${counter[0]} of ${expected}`);
  if (counter[0] !== expected) throw new Error('increments were lost: the lock let two in at once');

  // What the article's executeLocked forgets: the value, the error, and to unlock after the error.
  console.log(`\nreturned: ${await lock.executeLocked(() => 6 * 7)}`);
  const failing = lock.executeLocked(() => { throw new Error('out of ink'); });
  await failing.catch((error) => console.log(`threw:    ${error.message}`));
  console.log(`free:     ${lock.tryLock()}`);
  lock.unlock();
} else {
  const lock = new ThreeStateLock(workerData.lock);
  const counter = new Int32Array(workerData.counter);

  const gate = new Int32Array(workerData.gate);
  Atomics.add(gate, HERE, 1);
  Atomics.notify(gate, HERE);
  Atomics.wait(gate, GO, 0);

  const notifies = countNotifies();
  for (let i = 0; i < ROUNDS; i++) {
    lock.lock();
    increment(counter);
    lock.unlock();
  }
  parentPort.postMessage(notifies());
}

async function openGate(gate) {
  for (let here; (here = Atomics.load(gate, HERE)) < WORKERS; ) {
    await Atomics.waitAsync(gate, HERE, here).value;
  }
  Atomics.store(gate, GO, 1);
  Atomics.notify(gate, GO);
}

async function runTask(lock, counter) {
  for (let i = 0; i < ROUNDS; i++) await lock.executeLocked(() => increment(counter));
}

function startWorker(shared) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(import.meta.filename, { workerData: shared });
    worker.on('message', resolve);
    worker.on('error', reject);
  });
}

/** Plain on purpose: read, dawdle, write. */
function increment(counter) {
  const seen = counter[0];
  for (const until = performance.now() + 0.01; performance.now() < until; ); // 10 µs, whatever the engine
  counter[0] = seen + 1;
}

/** Counts this agent's notifies from outside the lock; what it returns says how many there were since last asked. */
function countNotifies() {
  const { notify } = Atomics;
  let count = 0;
  Atomics.notify = (...args) => {
    count++;
    return notify(...args);
  };
  return () => {
    const since = count;
    count = 0;
    return since;
  };
}

function row(who, locked, notified) {
  console.log(`${who.padEnd(14)}locked ${`${locked}`.padStart(5)} times, notified ${`${notified}`.padStart(5)} times`);
}
