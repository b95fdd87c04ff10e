// ValidateAtomicAccess: the length is in the witness record; ToIndex comes after it.
//@ flags: --main-can-block
//@ stdout: checks
//@ node: same
// On Node: V8 takes the length of a growable buffer anew after the index was coerced.
//@ node differs: wait, grown inside the index
//@ node differs: waitAsync, grown inside the index
//@ node differs: notify, grown inside the index

const { check, run, logged } = require("./support/check.js");

const i32 = new Int32Array(new SharedArrayBuffer(16));
const calls = {
  wait: (array, index) => run(() => Atomics.wait(array, index, 1, 0)),
  waitAsync: (array, index) => run(() => Atomics.waitAsync(array, index, 1, 0).value),
  notify: (array, index) => run(() => Atomics.notify(array, index)),
};
for (const [name, call] of Object.entries(calls)) {
  const fine = name === "notify" ? "0" : "not-equal";
  for (const index of [-1, 4, 1e99, Infinity, -Infinity, 2 ** 53, "5"]) check(`${name} at ${index}`, call(i32, index), "RangeError");
  for (const index of [undefined, null, NaN, -0, 0.9, -0.9, "3", "x", true]) check(`${name} at ${index}`, call(i32, index), fine);
  check(`${name} at a symbol`, call(i32, Symbol()), "TypeError");
  check(`${name} at 1n`, call(i32, 1n), "TypeError");
  check(`${name} at an object`, call(i32, logged("i", 3)), `i,${fine}`);

  const growable = new SharedArrayBuffer(4, { maxByteLength: 64 });
  const tracking = new Int32Array(growable);
  const grows = { valueOf: () => (growable.grow(64), 1) };
  check(`${name}, grown inside the index`, call(tracking, grows), "RangeError");
  check(`${name}, grown before`, call(tracking, 1), fine);
}
