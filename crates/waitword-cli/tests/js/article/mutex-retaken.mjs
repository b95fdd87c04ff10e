// The mutex's second corner case: "T1 releases the lock - T2 wakes up (the Atomics.wait call returns) and tries to do
// Atomics.compareExchange to acquire the lock, but another thread T3 was faster and got the lock already. So [...] T2
// calls Atomics.wait again, blocking until T3 releases the lock." Then the same for Atomics.waitAsync.
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { AsyncLock } from './support/async-lock.mjs';
import { equal, ok, pause, stayAlive } from './support/check.mjs';
import { Partner } from './support/partner.mjs';

if (isMainThread) {
  const done = stayAlive();
  await blocking();
  await asynchronous();
  done();
} else if (workerData.name === 'T2') {
  second(workerData);
} else {
  third(workerData);
}

// T1 cannot see whether T2 has joined the queue when it unlocks, but what notify returns tells: 1 if T2 was there. If
// not, T2 was late and is told 'not-equal', which is checked, and the attempt is repeated with more patience.
async function blocking() {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const lock = new AsyncLock(new SharedArrayBuffer(4));
  const woken = countWoken();
  const t2 = new Partner(import.meta.filename, { name: 'T2', sab: lock.sab, gate });
  const t3 = new Partner(import.meta.filename, { name: 'T3', sab: lock.sab });

  for (let attempt = 0; attempt < 20; attempt++) {
    const patience = attempt === 0 ? 0 : Math.min(2 ** attempt, 1000);
    lock.lock();
    Atomics.store(gate, 0, 0);
    t2.tell('lock');
    equal(await t2.hear(), 'about to wait', 'T2 found the lock taken');
    await pause(patience);
    lock.unlock();
    if (woken.last === 0) {
      equal(await t2.hear(), 'not-equal', 'T2 was late');
      equal(await t2.hear(), 'locked', 'T2 was late');
      t2.tell('unlock');
      equal(await t2.hear(), 'unlocked', 'T2 was late');
      continue;
    }
    equal(await t2.hear(), 'ok', 'T1 notified T2'); // T2 is awake now, but stands still before its compareExchange

    t3.tell('lock');
    equal(await t3.hear(), 'locked', 'T3 takes the lock without waiting');
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
    equal(await t2.hear(), 'about to wait', 'T2 waits again');
    await pause(patience);

    t3.tell('unlock');
    const inQueue = await t3.hear();
    equal(await t2.hear(), inQueue === 1 ? 'ok' : 'not-equal', 'T3 notified T2, or T2 was late');
    equal(await t2.hear(), 'locked', 'T2 has the lock at last');
    t2.tell('unlock');
    equal(await t2.hear(), 'unlocked', 'T2');
    if (inQueue === 1) {
      ok('retaken before the woken one tries: it waits again, until T3 unlocks');
      t2.dismiss();
      t3.dismiss();
      return;
    }
  }
  throw new Error('T2 was late in every attempt');
}

function second({ sab, gate }) {
  const { wait } = Atomics;
  const lock = new AsyncLock(sab);
  Atomics.wait = (...args) => {
    parentPort.postMessage('about to wait');
    const outcome = wait(...args);
    parentPort.postMessage(outcome);
    if (outcome === 'ok') wait(gate, 0, 0); // until T3 has been faster; open for good after that
    return outcome;
  };
  parentPort.on('message', (message) => {
    lock[message]();
    parentPort.postMessage(`${message}ed`);
  });
}

function third({ sab }) {
  const lock = new AsyncLock(sab);
  const woken = countWoken();
  Atomics.wait = () => {
    throw new Error('T3 has to wait, although the lock is free');
  };
  parentPort.on('message', (message) => {
    lock[message]();
    parentPort.postMessage(message === 'lock' ? 'locked' : woken.last);
  });
}

// One agent is enough for this one: between the notify and the reaction of the promise, T3 runs.
async function asynchronous() {
  const { waitAsync } = Atomics;
  const woken = countWoken();
  const results = [];
  Atomics.waitAsync = (...args) => {
    const result = waitAsync(...args);
    results.push(result);
    return result;
  };
  const lock = new AsyncLock(new SharedArrayBuffer(4));
  const entered = [];

  lock.lock();
  entered.push('T1');
  const t2 = new Promise((resolve) => lock.executeLocked(() => resolve(entered.push('T2'))));
  equal(results.length, 1, 'T2 waits');

  lock.unlock();
  equal(woken.last, 1, 'T1 notified T2');
  lock.lock();
  entered.push('T3');
  equal(await results[0].value, 'ok', 'T2 is woken'); // its own reaction, which came first, has run before this one
  equal(results.length, 2, 'T2 did not get the lock and waits again');
  equal(results[1].async, true, 'T2 did not get the lock and waits again');

  lock.unlock();
  equal(woken.last, 1, 'T3 notified T2');
  await t2;
  equal(entered, ['T1', 'T3', 'T2'], 'who held the lock');
  ok('retaken before the reaction of the promise runs: it waits again, until T3 unlocks');
}

function countWoken() {
  const { notify } = Atomics;
  const woken = { last: 0 };
  Atomics.notify = (...args) => (woken.last = notify(...args));
  return woken;
}
