// The three-state lock, used both ways at once: two workers block, two tasks of the main agent await. The table shows
// what the third state is for: how many unlocks had to notify.
//
//   waitword run examples/article/three-states.js        node examples/article/three-states.js
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import './three-state-lock.js';

const WORKERS = 2;
const TASKS = 2;
const ROUNDS = 2000;
const [READY, START] = [0, 1]; // words of the start signal: no agent may finish before the others have begun

if (isMainThread) {
  await main();
} else {
  work(workerData);
}

async function main() {
  const shared = { lock: new SharedArrayBuffer(4), counter: new SharedArrayBuffer(4), signal: new SharedArrayBuffer(8) };
  const lock = new ThreeStateLock(shared.lock);
  const counter = new Int32Array(shared.counter);
  const notifies = countNotifies();

  // Without contention the word goes from 0 to 1 and back, and no unlock notifies.
  for (let i = 0; i < ROUNDS; i++) await lock.executeLocked(() => {});
  row('main, alone', ROUNDS, notifies.take());

  // With contention, an unlock notifies only if there may be a waiter.
  const workers = Array.from({ length: WORKERS }, () => startWorker(shared));
  await startTogether(new Int32Array(shared.signal));
  notifies.take();
  await Promise.all(Array.from({ length: TASKS }, async () => {
    for (let i = 0; i < ROUNDS; i++) await lock.executeLocked(() => increment(counter));
  }));
  row(`main, ${TASKS} tasks`, TASKS * ROUNDS, notifies.take());
  (await Promise.all(workers)).forEach((count, i) => row(`worker ${i + 1}`, ROUNDS, count));

  const expected = (WORKERS + TASKS) * ROUNDS;
  console.log(`\ntotal ${counter[0]} of ${expected}`);
  if (counter[0] !== expected) throw new Error('increments were lost: two agents held the lock at once');

  // The callback's result and error reach the caller, and an error does not leave the lock held.
  console.log(`\nreturned: ${await lock.executeLocked(() => 6 * 7)}`);
  const failing = lock.executeLocked(() => { throw new Error('out of ink'); });
  await failing.catch((error) => console.log(`threw:    ${error.message}`));
  console.log(`free:     ${lock.tryLock()}`);
  lock.unlock();
}

function work(shared) {
  const lock = new ThreeStateLock(shared.lock);
  const counter = new Int32Array(shared.counter);
  const signal = new Int32Array(shared.signal);
  Atomics.add(signal, READY, 1);
  Atomics.notify(signal, READY);
  Atomics.wait(signal, START, 0);

  const notifies = countNotifies();
  for (let i = 0; i < ROUNDS; i++) {
    lock.lock();
    increment(counter);
    lock.unlock();
  }
  parentPort.postMessage(notifies.take());
}

function startWorker(shared) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(import.meta.filename, { workerData: shared });
    worker.on('message', resolve);
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

/** Counts the notifies of this agent. `take` returns how many there were since the last `take`. */
function countNotifies() {
  const { notify } = Atomics;
  let count = 0;
  Atomics.notify = (...args) => {
    count++;
    return notify(...args);
  };
  return {
    take() {
      const taken = count;
      count = 0;
      return taken;
    },
  };
}

function row(agent, locked, notified) {
  console.log(`${agent.padEnd(14)}locked ${`${locked}`.padStart(5)} times, notified ${`${notified}`.padStart(5)} times`);
}
