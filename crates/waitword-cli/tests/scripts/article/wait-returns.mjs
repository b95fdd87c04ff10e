// The three strings that `Atomics.wait` returns, in a worker.
//@ in place
//> ok  'not-equal' at once
//> ok  'timed-out' for timeout 0
//> ok  'timed-out' later
//> ok  'ok' when notified, whatever its timeout

import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { equal, ok, pause } from './support/check.mjs';
import { Partner } from './support/partner.mjs';

if (isMainThread) {
  const words = new Int32Array(new SharedArrayBuffer(16));
  const worker = new Partner(import.meta.filename, words.buffer);
  while ((await worker.receive()) === 'about to block') {
    // The worker may not have enqueued yet, but it will: notify until one waiter was woken.
    while (Atomics.notify(words, 1) === 0) await pause(1);
  }
  ok("'ok' when notified, whatever its timeout");
} else {
  const words = new Int32Array(workerData);

  equal(Atomics.wait(words, 0, 1), 'not-equal', 'the word does not hold the value');
  equal(Atomics.wait(words, 0, 1, 0), 'not-equal', 'the value is compared before the timeout is checked');
  ok("'not-equal' at once");

  equal(Atomics.wait(words, 0, 0, 0), 'timed-out', 'timeout 0');
  ok("'timed-out' for timeout 0");

  const [before, timeout] = [performance.now(), 20];
  equal(Atomics.wait(words, 0, 0, timeout), 'timed-out', 'nobody notifies');
  equal(performance.now() - before >= timeout, true, 'it waited for the whole of its timeout');
  ok("'timed-out' later");

  for (const timeout of [undefined, Infinity, 600_000]) {
    parentPort.postMessage('about to block');
    equal(Atomics.wait(words, 1, 0, timeout), 'ok', `notified, with timeout ${timeout}`);
  }
  parentPort.postMessage('all done');
}
