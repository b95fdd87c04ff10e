// A race of the mutex: T2's compareExchange fails, and T1 releases the lock before T2 waits. T2's wait returns 'not-equal'
// at once, and T2 retries. First with `Atomics.wait`, then with `Atomics.waitAsync`.
//@ in place
//> ok  released between compareExchange and wait: 'not-equal' at once, and the lock is taken
//> ok  released between compareExchange and waitAsync: 'not-equal' at once, and the lock is taken

import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { AsyncLock } from './support/async-lock.mjs';
import { equal, ok } from './support/check.mjs';
import { Partner } from './support/partner.mjs';

if (isMainThread) {
  await blocking();
  await asynchronous();
} else {
  // T2. Its compareExchange has failed; before it can wait, it lets T1 release the lock.
  const { sab, gate } = workerData;
  const { wait } = Atomics;
  const outcomes = [];
  Atomics.wait = (...args) => {
    parentPort.postMessage('about to wait');
    wait(gate, 0, 0);
    const outcome = wait(...args);
    outcomes.push(outcome);
    return outcome;
  };
  const lock = new AsyncLock(sab);
  lock.lock();
  lock.unlock();
  parentPort.postMessage(outcomes);
}

async function blocking() {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const sab = new SharedArrayBuffer(4);
  const lock = new AsyncLock(sab);
  lock.lock();
  const t2 = new Partner(import.meta.filename, { sab, gate });
  equal(await t2.receive(), 'about to wait', 'T2 found the lock taken');

  lock.unlock();
  Atomics.store(gate, 0, 1);
  Atomics.notify(gate, 0);

  equal(await t2.receive(), ['not-equal'], 'what T2 got from Atomics.wait until it held the lock');
  ok("released between compareExchange and wait: 'not-equal' at once, and the lock is taken");
}

async function asynchronous() {
  const { waitAsync } = Atomics;
  const results = [];
  const lock = new AsyncLock(new SharedArrayBuffer(4));
  lock.lock();
  Atomics.waitAsync = (...args) => {
    lock.unlock(); // T1's release, in the middle of the race
    const result = waitAsync(...args);
    results.push(result);
    return result;
  };
  await new Promise((resolve) => lock.executeLocked(resolve));
  Atomics.waitAsync = waitAsync;

  equal(results, [{ async: false, value: 'not-equal' }], 'what waitAsync returned until the lock was held');
  ok("released between compareExchange and waitAsync: 'not-equal' at once, and the lock is taken");
}
