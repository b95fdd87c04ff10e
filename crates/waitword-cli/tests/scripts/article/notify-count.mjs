// The count of `notify`: its default, its conversion to an integer, and which waiters it wakes.
//@ in place
//> ok  notify(count) wakes the first `count`, in FIFO order, and returns how many
//> ok  without a count it wakes all
//> ok  a count is truncated, never below 0, and may be larger than the queue
//> ok  0 if nobody waits there

import { equal, ok, stayAlive } from './support/check.mjs';

const done = stayAlive();
const words = new Int32Array(new SharedArrayBuffer(16));

/** Enqueues `n` waiters on one word. `woken` receives their numbers in the order in which they are woken. */
function enqueue(n) {
  const woken = [];
  const waits = Array.from({ length: n }, (_, i) =>
    Atomics.waitAsync(words, 0, 0).value.then((outcome) => {
      equal(outcome, 'ok', `wait ${i}`);
      woken.push(i);
    }));
  return { woken, waits };
}

for (const count of [0, 1, 2, 3, 4, 5]) {
  const { woken, waits } = enqueue(5);
  const first = [0, 1, 2, 3, 4].slice(0, count);
  equal(Atomics.notify(words, 0, count), count, `notify(${count}) of five`);
  await Promise.all(waits.slice(0, count));
  equal(woken, first, `the waiters that notify(${count}) woke`);

  equal(Atomics.notify(words, 0), 5 - count, `the default wakes all that are left after ${count}`);
  await Promise.all(waits);
  equal(woken, [0, 1, 2, 3, 4], 'all of them, in the order of their arrival');
}
ok('notify(count) wakes the first `count`, in FIFO order, and returns how many');
ok('without a count it wakes all');

for (const [count, woken] of [
  [undefined, 3], [Infinity, 3], [7, 3], [2 ** 53, 3], [1.9, 1], ['2', 2], [true, 1],
  [null, 0], [NaN, 0], [-1, 0], [-Infinity, 0], [0.9, 0],
]) {
  const { waits } = enqueue(3);
  equal(Atomics.notify(words, 0, count), woken, `notify(${count}) of three`);
  Atomics.notify(words, 0);
  await Promise.all(waits);
}
ok('a count is truncated, never below 0, and may be larger than the queue');

equal(Atomics.notify(words, 0), 0, 'an empty queue');
Atomics.waitAsync(words, 1, 0);
equal(Atomics.notify(words, 0), 0, 'a waiter on another word');
equal(Atomics.notify(words, 1), 1, 'the waiter on its own word');
ok('0 if nobody waits there');
done();
