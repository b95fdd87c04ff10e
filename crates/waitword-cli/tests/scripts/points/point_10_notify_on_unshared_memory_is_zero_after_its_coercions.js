// Whether the memory is shared is asked last.
//@ flags: --main-can-block
//@ stdout: checks
//@ node: same
// On Node: V8 has no immutable buffers yet.
//@ node differs: notify on an immutable Int32Array
//@ node differs: immutable Int32Array, a bad index
//@ node differs: immutable Int32Array, a bad count
//@ node differs: notify on an immutable BigInt64Array
//@ node differs: immutable BigInt64Array, a bad index
//@ node differs: immutable BigInt64Array, a bad count

const { check, run, logged, poisoned } = require("./support/check.js");

for (const array of [new Int32Array(4), new BigInt64Array(4)]) {
  const name = array.constructor.name;
  check(`notify on an unshared ${name}`, run(() => Atomics.notify(array, logged("i", 3), logged("c", 1))), "i,c,0");
  check(`${name}, a bad index`, run(() => Atomics.notify(array, 4, poisoned("c"))), "RangeError");
  check(`${name}, a bad count`, run(() => Atomics.notify(array, 0, poisoned("c"))), "c,EvalError");
}
const view = new Int32Array(4);
const detaches = { valueOf: () => (structuredClone(view.buffer, { transfer: [view.buffer] }), 1) };
check("detached by the count", run(() => Atomics.notify(view, 0, detaches)), "0");

// Of an immutable buffer, Atomics may read: notify is 0 there as well. Nobody waits there.
const immutable = (Type) => new Type(new ArrayBuffer(16).transferToImmutable());
for (const Type of [Int32Array, BigInt64Array]) {
  check(`notify on an immutable ${Type.name}`, run(() => Atomics.notify(immutable(Type), logged("i", 1), logged("c", 1))), "i,c,0");
  check(`immutable ${Type.name}, a bad index`, run(() => Atomics.notify(immutable(Type), logged("i", 9), poisoned("c"))), "i,RangeError");
  check(`immutable ${Type.name}, a bad count`, run(() => Atomics.notify(immutable(Type), 0, poisoned("c"))), "c,EvalError");
  check(`wait on an immutable ${Type.name}`, run(() => Atomics.wait(immutable(Type), poisoned("i"), 0, 0)), "TypeError");
  check(`waitAsync on an immutable ${Type.name}`, run(() => Atomics.waitAsync(immutable(Type), poisoned("i"), 0, 0)), "TypeError");
}
