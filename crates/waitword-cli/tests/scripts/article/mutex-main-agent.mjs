// The main agent, which cannot block, and the mutex: `lock` is a TypeError where it would have to wait.
//@ in place
//> ok  lock on a held lock is a TypeError, and changes nothing
//> ok  executeLocked waits for a held lock

import { AsyncLock, LOCKED, UNLOCKED } from './support/async-lock.mjs';
import { equal, mainMayBlock, ok, stayAlive, throws } from './support/check.mjs';

const done = stayAlive();
const word = new Int32Array(new SharedArrayBuffer(4));
const lock = new AsyncLock(word.buffer);

lock.lock();
if (mainMayBlock()) {
  ok('skipped: this host lets its main agent block');
} else {
  throws(TypeError, () => lock.lock(), 'lock on a held lock');
  equal(word[0], LOCKED, 'the word after the failed lock');
  equal(Atomics.notify(word, 0), 0, 'waiters after the failed lock');
  ok('lock on a held lock is a TypeError, and changes nothing');
}
const entered = new Promise((resolve) => lock.executeLocked(() => resolve(word[0])));
lock.unlock();
equal(await entered, LOCKED, 'the word in the callback');
equal(word[0], UNLOCKED, 'the word after the callback');
ok('executeLocked waits for a held lock');
done();
