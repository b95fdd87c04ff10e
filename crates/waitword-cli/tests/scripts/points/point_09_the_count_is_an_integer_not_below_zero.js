// Atomics.notify, steps on count.
//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { check, run, logged, poisoned, word } = require("./support/check.js");

const array = word();
const notified = (count) => {
  for (let waiter = 0; waiter < 3; waiter++) Atomics.waitAsync(array, 0, 0);
  const woken = run(() => Atomics.notify(array, 0, count));
  Atomics.notify(array, 0);
  return woken;
};
for (const none of [0, -0, NaN, null, 0.9, -0.5, -3, -Infinity, "x", {}, false]) check(`${String(none)} of 3`, notified(none), "0");
for (const one of [1, 1.9, true, "1"]) check(`${one} of 3`, notified(one), "1");
for (const all of [3, 4, 2 ** 31, 2 ** 32, 2 ** 53, 1e300, Infinity, undefined]) check(`${all} of 3`, notified(all), "3");
for (const wrong of [1n, Symbol()]) check(`${typeof wrong}`, notified(wrong), "TypeError");
check("after the index", run(() => Atomics.notify(array, logged("i", 0), logged("c", 1))), "i,c,0");
check("a bad index first", run(() => Atomics.notify(array, 1, poisoned("c"))), "RangeError");
