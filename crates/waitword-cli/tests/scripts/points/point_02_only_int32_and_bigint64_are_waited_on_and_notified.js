// ValidateIntegerTypedArray(typedArray, waitable = true).
//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { check, run, poisoned } = require("./support/check.js");

const others = [
  Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Uint32Array, BigUint64Array, Float32Array, Float64Array,
];
for (const Type of others) {
  const array = new Type(new SharedArrayBuffer(8));
  const outcomes = [
    run(() => Atomics.wait(array, poisoned("i"), 0, 0)),
    run(() => Atomics.waitAsync(array, poisoned("i"), 0, 0)),
    run(() => Atomics.notify(array, poisoned("i"))),
  ];
  check(Type.name, outcomes, ["TypeError", "TypeError", "TypeError"]);
}
for (const [array, zero] of [[new Int32Array(new SharedArrayBuffer(8)), 0], [new BigInt64Array(new SharedArrayBuffer(8)), 0n]]) {
  const outcomes = [Atomics.wait(array, 0, zero, 0), Atomics.waitAsync(array, 0, zero, 0).value, Atomics.notify(array, 0)];
  check(array.constructor.name, outcomes, ["timed-out", "timed-out", 0]);
}
