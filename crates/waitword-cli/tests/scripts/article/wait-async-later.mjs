// The promise of `waitAsync` is fulfilled with 'ok' or 'timed-out', and is never rejected.
//@ in place
//> ok  'ok' after a notify in this thread
//> ok  'ok' after a notify in another thread
//> ok  'timed-out' when nobody notifies
//> ok  never rejected, and the sum of what notify returned is the number of oks
//> ok  bad arguments throw instead of rejecting

import { Worker, isMainThread, workerData } from 'node:worker_threads';
import { equal, ok, stayAlive, throws } from './support/check.mjs';

if (isMainThread) {
  const done = stayAlive();
  const sab = new SharedArrayBuffer(32);
  const words = new Int32Array(sab);

  const here = Atomics.waitAsync(words, 0, 0, 600_000);
  equal(Atomics.notify(words, 0), 1, 'notified by its own agent');
  equal(await here.value, 'ok', 'notified by its own agent');
  ok("'ok' after a notify in this thread");

  const there = Atomics.waitAsync(words, 1, 0);
  new Worker(import.meta.filename, { workerData: sab });
  equal(await there.value, 'ok', 'notified by another agent');
  ok("'ok' after a notify in another thread");

  equal(await Atomics.waitAsync(words, 2, 0, 5).value, 'timed-out', 'nobody notifies');
  equal(Atomics.notify(words, 2), 0, 'a waiter that timed out is dequeued');
  ok("'timed-out' when nobody notifies");

  // One word, twenty waits; those that are due before the notify time out, the others are notified, none is rejected.
  const waits = Array.from({ length: 20 }, (_, i) => Atomics.waitAsync(words, 3, 0, i < 10 ? 1 + i : 600_000));
  const outcomes = Promise.allSettled(waits.map((wait) => wait.value));
  await waits[9].value;
  const notified = Atomics.notify(words, 3);
  const settled = await outcomes;
  equal(settled.filter(({ status }) => status === 'rejected'), [], 'rejected promises');
  equal(settled.filter(({ value }) => value === 'ok').length, notified, "as many 'ok' as notify said");
  equal(settled.slice(10).map(({ value }) => value), Array(10).fill('ok'), 'those with time left');
  equal(settled[9].value, 'timed-out', 'the one that was awaited first');
  ok('never rejected, and the sum of what notify returned is the number of oks');

  // Even bad arguments do not give a rejected promise: they throw at once.
  throws(RangeError, () => Atomics.waitAsync(words, 99, 0), 'an index outside the array');
  throws(TypeError, () => Atomics.waitAsync(new Int32Array(4), 0, 0), 'memory that is not shared');
  throws(TypeError, () => Atomics.waitAsync(words, 0, 0n), 'a BigInt for an Int32Array');
  ok('bad arguments throw instead of rejecting');
  done();
} else {
  const words = new Int32Array(workerData);
  equal(Atomics.notify(words, 1), 1, 'the main agent has waited since before this worker began');
}
