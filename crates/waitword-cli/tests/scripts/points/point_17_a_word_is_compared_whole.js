//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { check } = require("./support/check.js");

const array = new BigInt64Array(new SharedArrayBuffer(8));
array[0] = 2n ** 32n;
check("the low half is not enough", Atomics.wait(array, 0, 0n, 0), "not-equal");
check("nor the high half", Atomics.waitAsync(array, 0, 2n ** 32n + 1n, 0).value, "not-equal");
check("both are", Atomics.wait(array, 0, 2n ** 32n, 0), "timed-out");
