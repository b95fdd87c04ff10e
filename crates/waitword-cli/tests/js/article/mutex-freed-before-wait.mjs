// The mutex's first corner case: "T1 releases the lock before T2 manages to call Atomics.wait. When T2 calls
// Atomics.wait, it will return immediately with the return value 'not-equal'. In that case, T2 will continue with the
// next loop iteration, trying to acquire the lock again." Then the same for Atomics.waitAsync.
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
  const lock = new AsyncLock(new SharedArrayBuffer(4));
  lock.lock();
  const t2 = new Partner(import.meta.filename, { sab: lock.sab, gate });
  equal(await t2.hear(), 'about to wait', 'T2 found the lock taken');

  lock.unlock();
  Atomics.store(gate, 0, 1);
  Atomics.notify(gate, 0);

  equal(await t2.hear(), ['not-equal'], 'what T2 got from Atomics.wait until it held the lock');
  ok("released between compareExchange and wait: 'not-equal' at once, and the lock is taken");
}

async function asynchronous() {
  const { waitAsync } = Atomics;
  const results = [];
  const lock = new AsyncLock(new SharedArrayBuffer(4));
  lock.lock();
  Atomics.waitAsync = (...args) => {
    lock.unlock(); // T1, of all moments at this one
    const result = waitAsync(...args);
    results.push(result);
    return result;
  };
  await new Promise((resolve) => lock.executeLocked(resolve));
  Atomics.waitAsync = waitAsync;

  equal(results, [{ async: false, value: 'not-equal' }], 'what waitAsync returned until the lock was held');
  ok("released between compareExchange and waitAsync: 'not-equal' at once, and the lock is taken");
}
