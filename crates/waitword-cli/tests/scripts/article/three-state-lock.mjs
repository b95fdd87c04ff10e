// The lock of examples/article that tells "locked" from "locked with waiters", state by state.
//@ in place
//> ok  an unlock without waiters does not notify
//> ok  each unlock wakes one waiter until none is left
//> ok  executeLocked brings the value or the error, and unlocks in either case
//> ok  an agent that blocks and one that awaits share the lock

import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import '../../../../../examples/article/three-state-lock.js';
import { equal, ok, stayAlive, throws } from './support/check.mjs';
import { Partner } from './support/partner.mjs';

const { FREE, LOCKED, CONTENDED } = ThreeStateLock;
const INDEX = 1;

if (isMainThread) {
  const done = stayAlive();
  const word = new Int32Array(new SharedArrayBuffer(8));
  const lock = new ThreeStateLock(word.buffer, INDEX);
  const notified = recordNotifies();
  const state = (expected, when) => equal(word[INDEX], expected, `the state ${when}`);

  throws(Error, () => lock.unlock(), 'unlock while nobody holds it');
  state(FREE, 'after the failed unlock');
  equal(lock.tryLock(), true, 'tryLock on a free lock');
  state(LOCKED, 'when taken without contention');
  equal(lock.tryLock(), false, 'tryLock on a locked one');
  state(LOCKED, 'after tryLock failed: there is no waiter');
  lock.unlock();
  state(FREE, 'after unlock');
  equal(notified, [], 'what notify returned');
  ok('an unlock without waiters does not notify');

  // Two waiters. The one that is woken first has to leave the word CONTENDED, or no unlock would wake the other.
  await lock.lockAsync();
  const first = lock.lockAsync();
  const second = lock.lockAsync();
  state(CONTENDED, 'with two waiting');
  lock.unlock();
  await first;
  state(CONTENDED, 'while the first of the two holds it');
  lock.unlock();
  await second;
  lock.unlock();
  state(FREE, 'after the last unlock');
  equal(notified, [1, 1, 0], 'what notify returned');
  ok('each unlock wakes one waiter until none is left');

  equal(await lock.executeLocked(() => word[INDEX]), LOCKED, 'executeLocked brings the value');
  equal(await lock.executeLocked(async () => 'later'), 'later', 'executeLocked brings the value of a promise');
  const fails = () => { throw new Error('on purpose'); };
  for (const f of [fails, async () => fails()]) {
    equal(await lock.executeLocked(f).catch((error) => error.message), 'on purpose', 'executeLocked brings the error');
    state(FREE, 'after the callback threw');
  }
  ok('executeLocked brings the value or the error, and unlocks in either case');

  await lock.lockAsync();
  const worker = new Partner(import.meta.filename, word.buffer);
  equal(await worker.receive(), 'about to lock', 'the worker');
  lock.unlock();
  equal(await worker.receive(), 'locked', 'the worker');
  const mine = lock.lockAsync();
  worker.send('unlock');
  await mine;
  lock.unlock();
  state(FREE, 'after both have unlocked');
  ok('an agent that blocks and one that awaits share the lock');
  worker.terminate();
  done();
} else {
  const lock = new ThreeStateLock(workerData, INDEX);
  parentPort.postMessage('about to lock');
  lock.lock();
  parentPort.postMessage('locked');
  parentPort.on('message', () => lock.unlock());
}

function recordNotifies() {
  const { notify } = Atomics;
  const returned = [];
  Atomics.notify = (...args) => {
    const count = notify(...args);
    returned.push(count);
    return count;
  };
  return returned;
}
