// What the other functions of Atomics return and leave behind.
//@ flags: --main-can-block
//@ stdout: as on Node

for (const Type of [Int8Array, Uint8Array, Int16Array, Uint16Array, Int32Array, Uint32Array, BigInt64Array, BigUint64Array]) {
  const of = Type.name.startsWith("Big") ? BigInt : Number;
  const array = new Type(new SharedArrayBuffer(16));
  const results = [
    Atomics.store(array, 0, of(5)), Atomics.add(array, 0, of(300)), Atomics.sub(array, 0, of(1)), Atomics.and(array, 0, of(255)),
    Atomics.or(array, 0, of(64)), Atomics.xor(array, 0, of(7)), Atomics.exchange(array, 0, of(9)), Atomics.compareExchange(array, 0, of(9), of(-1)),
    Atomics.compareExchange(array, 0, of(9), of(1)), Atomics.load(array, 0),
  ];
  console.log(Type.name, results.join());
}
console.log([1, 2, 4, 8].map((size) => Atomics.isLockFree(size)));
