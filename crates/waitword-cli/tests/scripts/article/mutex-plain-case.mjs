// The mutex without races: a free lock is taken, a held one is waited for, an unlock wakes the head waiter.
//@ in place
//> ok  unlock of a free lock is an error, and changes nothing
//> ok  a free lock is acquired and released without waiting
//> ok  executeLocked schedules its callback, and each holder notifies when it unlocks
//> ok  a worker that blocks and a main agent that awaits share the lock
//> ok  a worker can use executeLocked as well

import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { AsyncLock, LOCKED, UNLOCKED } from './support/async-lock.mjs';
import { equal, ok, stayAlive, throws } from './support/check.mjs';
import { Partner } from './support/partner.mjs';

if (isMainThread) {
  const done = stayAlive();
  const word = new Int32Array(new SharedArrayBuffer(4));
  const lock = new AsyncLock(word.buffer);

  throws(Error, () => lock.unlock(), 'unlock while the lock is free');
  equal(word[0], UNLOCKED, 'the word after the failed unlock');
  ok('unlock of a free lock is an error, and changes nothing');

  lock.lock(); // free: no agent has to block for it, not even this one
  equal(word[0], LOCKED, 'the word after lock');
  lock.unlock();
  equal(word[0], UNLOCKED, 'the word after unlock');
  ok('a free lock is acquired and released without waiting');

  // executeLocked returns at once. It has run the callback if the lock was free, and scheduled it if not.
  const entered = [];
  lock.executeLocked(() => entered.push(word[0] === LOCKED ? 'locked' : 'unlocked'));
  equal(entered, ['locked'], 'callbacks run, on a free lock');
  equal(word[0], UNLOCKED, 'the word after executeLocked');
  lock.lock();
  const last = new Promise((resolve) => {
    for (let i = 0; i < 5; i++) lock.executeLocked(() => entered.push(i));
    lock.executeLocked(resolve);
  });
  equal(entered, ['locked'], 'callbacks run, on a held lock');
  lock.unlock();
  await last;
  equal(entered, ['locked', 0, 1, 2, 3, 4], 'one unlock starts all of them, one after the other');
  ok('executeLocked schedules its callback, and each holder notifies when it unlocks');

  lock.lock();
  const worker = new Partner(import.meta.filename, word.buffer);
  equal(await worker.receive(), 'about to lock', 'the worker');
  lock.unlock();
  equal(await worker.receive(), 'locked', 'the worker');
  equal(word[0], LOCKED, 'the word while the worker holds the lock');
  const mine = new Promise((resolve) => lock.executeLocked(resolve));
  worker.send('unlock');
  await mine;
  equal(await worker.receive(), 'unlocked', 'the worker');
  ok('a worker that blocks and a main agent that awaits share the lock');

  lock.lock();
  worker.send('executeLocked');
  equal(await worker.receive(), 'scheduled', 'the worker is not blocked');
  lock.unlock();
  equal(await worker.receive(), 'executed', 'the worker');
  ok('a worker can use executeLocked as well');
  worker.terminate();
  done();
} else {
  const lock = new AsyncLock(workerData);
  parentPort.postMessage('about to lock');
  lock.lock();
  parentPort.postMessage('locked');
  parentPort.on('message', (message) => {
    if (message === 'unlock') {
      lock.unlock();
      parentPort.postMessage('unlocked');
    } else {
      lock.executeLocked(() => parentPort.postMessage('executed'));
      parentPort.postMessage('scheduled');
    }
  });
}
