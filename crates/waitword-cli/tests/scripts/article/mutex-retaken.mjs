// A race of the mutex: T1 releases the lock and wakes T2, and T3 acquires the lock before T2 retries. T2's
// compareExchange fails and T2 waits again, until T3 releases. First with `Atomics.wait`, then with `Atomics.waitAsync`.
//@ in place
//> ok  taken before the woken waiter retries: it waits again, until T3 unlocks
//> ok  taken before the reaction of the promise runs: it waits again, until T3 unlocks

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

// T1 cannot see whether T2 has enqueued when it unlocks, but notify returns 1 if T2 had. If it returns 0, T2 was late and
// gets 'not-equal', which is checked, and the attempt is repeated with longer pauses.
async function blocking() {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const sab = new SharedArrayBuffer(4);
  const lock = new AsyncLock(sab);
  const woken = countWoken();
  const t2 = new Partner(import.meta.filename, { name: 'T2', sab, gate });
  const t3 = new Partner(import.meta.filename, { name: 'T3', sab });

  for (let attempt = 0; attempt < 20; attempt++) {
    const pauses = attempt === 0 ? 0 : Math.min(2 ** attempt, 1000);
    lock.lock();
    Atomics.store(gate, 0, 0);
    t2.send('lock');
    equal(await t2.receive(), 'about to wait', 'T2 found the lock taken');
    await pause(pauses);
    lock.unlock();
    if (woken.last === 0) {
      equal(await t2.receive(), 'not-equal', 'T2 was late');
      equal(await t2.receive(), 'locked', 'T2 was late');
      t2.send('unlock');
      equal(await t2.receive(), 'unlocked', 'T2 was late');
      continue;
    }
    equal(await t2.receive(), 'ok', 'T1 notified T2'); // T2 is awake now, and is stopped before its compareExchange

    t3.send('lock');
    equal(await t3.receive(), 'locked', 'T3 takes the lock without waiting');
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
    equal(await t2.receive(), 'about to wait', 'T2 waits again');
    await pause(pauses);

    t3.send('unlock');
    const inQueue = await t3.receive();
    equal(await t2.receive(), inQueue === 1 ? 'ok' : 'not-equal', 'T3 notified T2, or T2 was late');
    equal(await t2.receive(), 'locked', 'T2 has the lock');
    t2.send('unlock');
    equal(await t2.receive(), 'unlocked', 'T2');
    if (inQueue === 1) {
      ok('taken before the woken waiter retries: it waits again, until T3 unlocks');
      t2.terminate();
      t3.terminate();
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
    if (outcome === 'ok') wait(gate, 0, 0); // until T3 has acquired the lock; open after that
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
  equal(entered, ['T1', 'T3', 'T2'], 'the holders of the lock');
  ok('taken before the reaction of the promise runs: it waits again, until T3 unlocks');
}

function countWoken() {
  const { notify } = Atomics;
  const woken = { last: 0 };
  Atomics.notify = (...args) => (woken.last = notify(...args));
  return woken;
}
