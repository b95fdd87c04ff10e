// The article's mutex when all goes well: "T1 releases the lock and calls Atomics.notify. That makes the Atomics.wait
// call in T2 return 'ok'. T2 then tries to acquire the lock again, and this time succeeds."
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { AsyncLock } from './support/async-lock.mjs';
import { equal, ok, stayAlive, throws } from './support/check.mjs';
import { Partner } from './support/partner.mjs';

if (isMainThread) {
  const done = stayAlive();
  const lock = new AsyncLock(new SharedArrayBuffer(4));

  throws(Error, () => lock.unlock(), 'unlock while nobody holds it');
  try {
    lock.unlock();
  } catch (error) {
    equal(error.message, 'Tried to unlock while not holding the mutex', 'what it says');
  }
  equal(lock.i32a[0], AsyncLock.UNLOCKED, 'the state after the failed unlock');
  ok('unlock without the lock is an error, and changes nothing');

  lock.lock(); // free: no agent has to block for it, not even this one
  equal(lock.i32a[0], AsyncLock.LOCKED, 'the state after lock');
  lock.unlock();
  equal(lock.i32a[0], AsyncLock.UNLOCKED, 'the state after unlock');
  ok('a free lock is taken and released without waiting');

  // executeLocked comes back at once, having run the callback if the lock was free, having scheduled it if not.
  const entered = [];
  lock.executeLocked(() => entered.push('free'));
  equal(entered, ['free'], 'on a free lock');
  lock.lock();
  const last = new Promise((resolve) => {
    for (let i = 0; i < 5; i++) lock.executeLocked(() => entered.push(i));
    lock.executeLocked(resolve);
  });
  equal(entered, ['free'], 'on a locked one');
  lock.unlock();
  await last;
  equal(entered, ['free', 0, 1, 2, 3, 4], 'one unlock lets in all of them, one after the other');
  ok('executeLocked schedules, and whoever is notified notifies again when it unlocks');

  lock.lock();
  const worker = new Partner(import.meta.filename, lock.sab);
  equal(await worker.hear(), 'about to lock', 'T2');
  lock.unlock();
  equal(await worker.hear(), 'locked', 'T2');
  equal(lock.i32a[0], AsyncLock.LOCKED, 'the state while T2 holds it');
  const mine = new Promise((resolve) => lock.executeLocked(resolve));
  worker.tell('unlock');
  await mine;
  equal(await worker.hear(), 'unlocked', 'T2');
  ok('a worker that locks and a main agent that executes locked hand the lock to each other');

  lock.lock();
  worker.tell('executeLocked');
  equal(await worker.hear(), 'scheduled', 'the worker is not blocked');
  lock.unlock();
  equal(await worker.hear(), 'executed', 'the worker');
  ok('a worker may execute locked as well');
  worker.dismiss();
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
