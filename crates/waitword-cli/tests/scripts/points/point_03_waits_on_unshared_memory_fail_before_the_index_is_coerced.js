// DoWait, step 3.
//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { check, run, poisoned } = require("./support/check.js");

for (const array of [new Int32Array(4), new BigInt64Array(4)]) {
  const name = array.constructor.name;
  check(`wait on an unshared ${name}`, run(() => Atomics.wait(array, poisoned("i"), 0, 0)), "TypeError");
  check(`waitAsync on an unshared ${name}`, run(() => Atomics.waitAsync(array, poisoned("i"), 0, 0)), "TypeError");
}
