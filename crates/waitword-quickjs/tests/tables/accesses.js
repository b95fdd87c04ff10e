// `Atomics.load`, `store` and the read-modify-write functions on memory that the engine alone gets wrong. `i` and `v` are an index and a
// value that tell when they are coerced.
var log = [];
var i = { valueOf() { log.push("i"); return 0; } };
var v = { valueOf() { log.push("v"); return 1; } };
var of = (value) => ({ valueOf: () => value });
var b = new ArrayBuffer(8, { maxByteLength: 64 });
var run = (f) => { try { return String(f()); } catch (error) { return [...log.splice(0), error.name].join(); } };
// The functions that write, as calls on an array.
var writes = (a) => ["add", "and", "exchange", "or", "store", "sub", "xor"].map((name) => () => Atomics[name](a, i, v))
  .concat(() => Atomics.compareExchange(a, i, v, v));

//# immutable memory is not written to
var a = new Int32Array(new ArrayBuffer(8).transferToImmutable());
[...writes(a).map(run), Atomics.load(a, 0), Atomics.notify(a, 0)].join() //> TypeError,TypeError,TypeError,TypeError,TypeError,TypeError,TypeError,TypeError,0,0
var a = new Int32Array(new ArrayBuffer(8).sliceToImmutable(0, 8));
[...writes(a).map(run), Atomics.load(a, 0), Atomics.notify(a, 0)].join() //> TypeError,TypeError,TypeError,TypeError,TypeError,TypeError,TypeError,TypeError,0,0

//# an array out of bounds is a TypeError before the index is coerced
var a = new Int32Array(b, 4); b.resize(0);
[...writes(a), () => Atomics.load(a, i)].map(run) //> TypeError,TypeError,TypeError,TypeError,TypeError,TypeError,TypeError,TypeError,TypeError

//# an array that a coercion takes away is a TypeError after all coercions
[(b) => b.transfer(), (b) => b.resize(0)].map((fate) => [["load"], ["store", v], ["add", v], ["compareExchange", v, v]].map(([name, ...rest]) => {
  const a = new Int32Array(new ArrayBuffer(8, { maxByteLength: 8 }), 4);
  return run(() => Atomics[name](a, { valueOf() { fate(a.buffer); return 0; } }, ...rest));
}).join(" ")).join(" | ") //> TypeError v,TypeError v,TypeError v,v,TypeError | TypeError v,TypeError v,TypeError v,v,TypeError

//# the index is compared with the length of before
var a = new Int32Array(b), to = (length, index) => ({ valueOf() { b.resize(length); return index; } });
// Grown too late; and shrunk, but still there: the RangeError comes after the value.
[run(() => Atomics.store(a, to(64, 2), v)).endsWith("RangeError"), log.splice(0).join() + Atomics.store(a, 2, v)].join() //> true,1
var a = new Int32Array(b), to = (length, index) => ({ valueOf() { b.resize(length); return index; } });
b.resize(64); run(() => Atomics.store(a, to(8, 2), v)) //> v,RangeError

//# objects are coerced to all that their elements can be
var b = new SharedArrayBuffer(8);
[
  Atomics.store(new BigInt64Array(b), of(0), of(2n ** 100n + 5n)),
  Atomics.load(new BigUint64Array(b), of("0")),
  Atomics.store(new Uint8Array(b), of(0), of(-1.5)),
  Atomics.store(new Uint8Array(b), of(0), of(Infinity)),
  Object.is(Atomics.store(new Int8Array(b), of(0), of(-0)), 0),
  Atomics.sub(new Int16Array(b), of(0), of(2 ** 32 + 1)),
  Atomics.compareExchange(new Uint16Array(b), of(0), of(-1), of(7)),
  Atomics.exchange(new Uint32Array(b), of(0), of("0x10")),
].join() //> 1267650600228229401496703205381,5,-1,Infinity,true,0,65535,7
var b = new SharedArrayBuffer(8);
[
  () => Atomics.add(new BigInt64Array(b), 0, of(1)),
  () => Atomics.add(new Int32Array(b), 0, of(1n)),
  () => Atomics.add(new Float64Array(b), of(9), of(1)),
  () => Atomics.add(of(0), of(9), of(1)),
  () => Atomics.add(new BigInt64Array(b), 0, of("1n")),
].map(run) //> TypeError,TypeError,TypeError,TypeError,SyntaxError

//# what all functions return is the engines
// The second time, there is memory that has to be asked about.
[0, 1].map((round) => {
  if (round > 0) new ArrayBuffer(1).transferToImmutable();
  const results = [Uint8Array, Int16Array, Uint32Array, BigUint64Array].map((Type) => {
    const a = new Type(new SharedArrayBuffer(16)), n = (number) => Type === BigUint64Array ? BigInt(number) : number;
    return [Atomics.store(a, 1, n(5)), Atomics.add(a, 1, n(3)), Atomics.sub(a, 1, n(2)), Atomics.or(a, 1, n(9)), Atomics.and(a, 1, n(14)),
      Atomics.xor(a, 1, n(1)), Atomics.exchange(a, 1, n(7)), Atomics.compareExchange(a, 1, n(7), n(2)), Atomics.load(a, 1), Atomics.load(a, 0)].join();
  });
  return [...new Set(results)].join(" ");
}).join(" ") //> 5,5,8,6,15,14,15,7,2,0 5,5,8,6,15,14,15,7,2,0
