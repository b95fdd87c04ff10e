// `Atomics.wait` on the main agent, which cannot block, is a TypeError; `notify` and `waitAsync` are allowed there.
//@ in place
//> ok  Atomics.wait on the main agent is a TypeError
//> ok  notify and waitAsync are usable there
//> ok  Atomics.wait is usable in a worker

import { Worker, isMainThread, workerData } from 'node:worker_threads';
import { equal, mainMayBlock, ok, throws } from './support/check.mjs';

if (isMainThread) {
  const words = new Int32Array(new SharedArrayBuffer(16));
  if (mainMayBlock()) {
    ok('skipped: this host lets its main agent block (Node does; waitword with --main-can-block)');
  } else {
    throws(TypeError, () => Atomics.wait(words, 0, 0), 'it would have to wait');
    throws(TypeError, () => Atomics.wait(words, 0, 0, 0), 'timeout 0');
    throws(TypeError, () => Atomics.wait(words, 0, 1), "'not-equal': it would not even have to wait");
    ok('Atomics.wait on the main agent is a TypeError');
  }
  equal(Atomics.notify(words, 0), 0, 'the queue is empty');
  equal(Atomics.waitAsync(words, 0, 1).value, 'not-equal', 'waitAsync on the main agent');
  ok('notify and waitAsync are usable there');
  new Worker(import.meta.filename, { workerData: words.buffer });
} else {
  equal(Atomics.wait(new Int32Array(workerData), 0, 0, 1), 'timed-out', 'wait in a worker');
  ok('Atomics.wait is usable in a worker');
}
