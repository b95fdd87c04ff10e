// DoWait, steps on q and t. That all arguments are coerced from left to right is here too.
//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { check, run, logged, poisoned, word } = require("./support/check.js");

const array = word();
for (const zero of [0, -0, -1, -1e-300, -Infinity, null, false, "", "0"]) {
  const outcomes = [Atomics.wait(array, 0, 0, zero), Atomics.waitAsync(array, 0, 0, zero).value];
  check(`${JSON.stringify(zero)} is no time`, outcomes, ["timed-out", "timed-out"]);
}
for (const endless of [undefined, NaN, Infinity, "x", {}]) {
  check(`${endless} has no end`, Atomics.waitAsync(array, 0, 0, endless).async, true);
  check("until it is notified", Atomics.notify(array, 0), 1);
}
for (const short of [1, true, 0.1, "0.5"]) check(`${short} ends`, Atomics.wait(array, 0, 0, short), "timed-out");
for (const wrong of [1n, Symbol()]) {
  check(`wait for ${typeof wrong}`, run(() => Atomics.wait(array, 0, 0, wrong)), "TypeError");
  check(`waitAsync for ${typeof wrong}`, run(() => Atomics.waitAsync(array, 0, 0, wrong)), "TypeError");
}
check("wait coerces", run(() => Atomics.wait(array, logged("i", 0), logged("v", 7), logged("t", 0))), "i,v,t,not-equal");
check("waitAsync coerces", run(() => Atomics.waitAsync(array, logged("i", 0), logged("v", 7), poisoned("t"))), "i,v,t,EvalError");
