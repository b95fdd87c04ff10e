// ToInt32 or ToBigInt64.
//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { check, run } = require("./support/check.js");

const i32 = new Int32Array(new SharedArrayBuffer(16));
const i64 = new BigInt64Array(new SharedArrayBuffer(16));
[i32[0], i32[1], i64[0], i64[1]] = [42, -1, 42n, -1n];
const wait = (array, index, value) => run(() => Atomics.wait(array, index, value, 0));

for (const value of [42, 42.9, "42", 2 ** 32 + 42]) check(`Int32 42 is ${value}`, wait(i32, 0, value), "timed-out");
check("Int32 -1 is 2 ** 32 - 1", wait(i32, 1, 2 ** 32 - 1), "timed-out");
check("Int32 0 is undefined", wait(i32, 2, undefined), "timed-out");
for (const value of [42n, "42", 2n ** 64n + 42n]) check(`BigInt64 42n is ${value}`, wait(i64, 0, value), "timed-out");
check("BigInt64 -1n is 2n ** 64n - 1n", wait(i64, 1, 2n ** 64n - 1n), "timed-out");
check("BigInt64 42n is not true", wait(i64, 0, true), "not-equal");
check("Int32 and 42n", wait(i32, 0, 42n), "TypeError");
check("Int32 and a symbol", wait(i32, 0, Symbol()), "TypeError");
for (const value of [42, undefined, null, Symbol()]) check(`BigInt64 and ${typeof value}`, wait(i64, 0, value), "TypeError");
check("BigInt64 and x", wait(i64, 0, "x"), "SyntaxError");
