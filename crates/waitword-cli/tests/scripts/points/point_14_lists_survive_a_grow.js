//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { check, run } = require("./support/check.js");

const buffer = new SharedArrayBuffer(8, { maxByteLength: 64 });
const array = new Int32Array(buffer);
Atomics.waitAsync(array, 1, 0);
check("beyond the end", run(() => Atomics.waitAsync(array, 15, 0)), "RangeError");
buffer.grow(64);
Atomics.waitAsync(array, 15, 0);
check("queued before", Atomics.notify(array, 1), 1);
check("queued in what is new", Atomics.notify(array, 15), 1);
check("through a fresh view", Atomics.notify(new Int32Array(buffer), 15), 0);
