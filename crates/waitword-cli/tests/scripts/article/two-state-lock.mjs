// What the two-state lock of examples/article has beyond the article's class: any word, and a promise of the callback.
//@ in place
//> ok  the index selects the word
//> ok  executeLocked brings the value or the error, and unlocks in either case

import { AsyncLock, LOCKED, UNLOCKED } from './support/async-lock.mjs';
import { equal, ok, stayAlive } from './support/check.mjs';

const done = stayAlive();
const words = new Int32Array(new SharedArrayBuffer(16));
const [lock, other] = [new AsyncLock(words.buffer, 1), new AsyncLock(words.buffer, 2)];
lock.lock();
equal([...words], [0, LOCKED, 0, 0], 'the words');
other.lock();
lock.unlock();
equal([...words], [0, 0, LOCKED, 0], 'the words');
other.unlock();
ok('the index selects the word');

equal(await lock.executeLocked(() => 'value'), 'value', 'the promise');
const fails = () => { throw new Error('on purpose'); };
equal(await lock.executeLocked(fails).catch((error) => error.message), 'on purpose', 'the promise');
equal(words[1], UNLOCKED, 'the word after the callback threw');
lock.lock();
const waiting = [lock.executeLocked(fails).catch((error) => error.message), lock.executeLocked(() => 'next')];
lock.unlock();
equal(await Promise.all(waiting), ['on purpose', 'next'], 'the promises');
ok('executeLocked brings the value or the error, and unlocks in either case');
done();
