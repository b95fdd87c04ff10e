// The three shapes of what `waitAsync` returns, at once in each case.
//@ in place
//> ok  { async: false, value: 'not-equal' }
//> ok  { async: false, value: 'timed-out' }
//> ok  the value is compared before the timeout is checked
//> ok  { async: true, value: promise }
//> ok  the first two shapes enqueue nothing

import { equal, holds, ok } from './support/check.mjs';

const words = new Int32Array(new SharedArrayBuffer(16));

equal(Atomics.waitAsync(words, 0, 1), { async: false, value: 'not-equal' }, 'the word does not hold the value');
ok("{ async: false, value: 'not-equal' }");

equal(Atomics.waitAsync(words, 0, 0, 0), { async: false, value: 'timed-out' }, 'immediate timeout 0');
equal(Atomics.waitAsync(words, 0, 0, -1), { async: false, value: 'timed-out' }, 'a negative timeout is 0');
ok("{ async: false, value: 'timed-out' }");

equal(Atomics.waitAsync(words, 0, 1, 0).value, 'not-equal', 'both at once');
ok('the value is compared before the timeout is checked');

for (const timeout of [undefined, Infinity, NaN, 1000, 0.5]) {
  const result = Atomics.waitAsync(words, 1, 0, timeout);
  equal(Object.keys(result), ['async', 'value'], `the properties, with timeout ${timeout}`);
  equal(result.async, true, `async, with timeout ${timeout}`);
  holds(result.value instanceof Promise, `value is a promise, with timeout ${timeout}`);
  equal(Atomics.notify(words, 1), 1, `it waits, with timeout ${timeout}`);
  equal(await result.value, 'ok', `it is notified, with timeout ${timeout}`);
}
ok('{ async: true, value: promise }');

equal(Atomics.notify(words, 0), 0, 'the queue is empty');
ok('the first two shapes enqueue nothing');
