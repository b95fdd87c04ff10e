// Mutual exclusion: the main agent and four workers, two with each method, increment one plain counter. None is lost.
//@ in place
//> ok  one agent at a time holds the lock, and no increment is lost

import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { AsyncLock, UNLOCKED } from './support/async-lock.mjs';
import { equal, ok, stayAlive } from './support/check.mjs';
import { Partner } from './support/partner.mjs';

const ROUNDS = 500;
const HOW = [blocking, awaiting, blocking, awaiting];

if (isMainThread) {
  const done = stayAlive();
  const shared = { lock: new SharedArrayBuffer(4), counter: new SharedArrayBuffer(8) };
  const workers = HOW.map((how) => new Partner(import.meta.filename, { how: how.name, ...shared }));
  for (const worker of workers) equal(await worker.receive(), 'ready', 'a worker');
  for (const worker of workers) worker.send('start');
  await awaiting(shared);
  for (const worker of workers) equal(await worker.receive(), 'finished', 'a worker');

  const [total, inside] = new Int32Array(shared.counter);
  equal(total, (HOW.length + 1) * ROUNDS, 'the counter');
  equal(inside, 0, 'the agents inside, after the end');
  equal(new Int32Array(shared.lock)[0], UNLOCKED, 'the word after the end');
  ok('one agent at a time holds the lock, and no increment is lost');
  for (const worker of workers) worker.terminate();
  done();
} else {
  parentPort.on('message', async () => {
    await (workerData.how === blocking.name ? blocking : awaiting)(workerData);
    parentPort.postMessage('finished');
  });
  parentPort.postMessage('ready');
}

function blocking(shared) {
  const lock = new AsyncLock(shared.lock);
  const counter = new Int32Array(shared.counter);
  for (let i = 0; i < ROUNDS; i++) {
    lock.lock();
    increment(counter);
    lock.unlock();
  }
}

async function awaiting(shared) {
  const lock = new AsyncLock(shared.lock);
  const counter = new Int32Array(shared.counter);
  for (let i = 0; i < ROUNDS; i++) {
    await new Promise((resolve) => lock.executeLocked(() => {
      increment(counter);
      resolve();
    }));
  }
}

/** Plain on purpose: load, spin, store. The second word counts the agents inside. */
function increment(counter) {
  equal(Atomics.add(counter, 1, 1), 0, 'the agents inside');
  const seen = counter[0];
  for (const until = performance.now() + 0.01; performance.now() < until; );
  counter[0] = seen + 1;
  Atomics.sub(counter, 1, 1);
}
