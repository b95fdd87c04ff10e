//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { check, run, word } = require("./support/check.js");

const array = word();
check("nobody, all", Atomics.notify(array, 0), 0);
for (let waiter = 0; waiter < 3; waiter++) Atomics.waitAsync(array, 0, 0);
check("none of three", Atomics.notify(array, 0, 0), 0);
check("none, a bad index", run(() => Atomics.notify(array, 1, 0)), "RangeError");
check("none, a bad array", run(() => Atomics.notify([], 0, 0)), "TypeError");
check("more than there are", Atomics.notify(array, 0, 100), 3);
check("nobody is left", Atomics.notify(array, 0, 100), 0);
