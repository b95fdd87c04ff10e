// ArrayBuffers, SharedArrayBuffers and views on them by ECMA-262, where the engine alone goes astray. `b` is a resizable buffer of 16 bytes,
// `g` a growable one.
var resizable = (n, max = 32) => new ArrayBuffer(n, { maxByteLength: max });
var growable = (n, max = 32) => new SharedArrayBuffer(n, { maxByteLength: max });
var b = resizable(16), g = growable(16), log = [];
var bytes = (of) => { new Uint8Array(of).forEach((_, i, all) => all[i] = i + 1); return of; };
var when = (run, value = 0) => ({ valueOf() { run(); return value; } });
var species = (of, made) => {
  of.constructor = { [Symbol.species]: typeof made === "function" ? function (n) { return made(n); } : made };
  return of;
};

//# lengths do not wrap
new ArrayBuffer(0, { maxByteLength: Infinity }) //> RangeError
new ArrayBuffer(0, { maxByteLength: -Infinity }) //> RangeError
new ArrayBuffer(0, { maxByteLength: 2 ** 64 }) //> RangeError
new ArrayBuffer(4, { maxByteLength: 2 ** 64 + 4096 }) //> RangeError
new ArrayBuffer(0, { maxByteLength: -(2 ** 64) }) //> RangeError
new ArrayBuffer(0, { maxByteLength: 2 ** 53 }) //> RangeError
new ArrayBuffer(0, { maxByteLength: -1 }) //> RangeError
new ArrayBuffer(1, { maxByteLength: 0 }) //> RangeError
new ArrayBuffer(0, { maxByteLength: NaN }).maxByteLength //> 0
new ArrayBuffer(0, { maxByteLength: '7.9' }).maxByteLength //> 7
new ArrayBuffer(0, { maxByteLength: 8n }) //> TypeError
new ArrayBuffer(0, { maxByteLength: undefined }).resizable //> false
new ArrayBuffer(8, 'maxByteLength').resizable //> false
new SharedArrayBuffer(0, { maxByteLength: Infinity }) //> RangeError
new SharedArrayBuffer(0, { maxByteLength: 2 ** 64 }) //> RangeError
b.resize(2 ** 64) //> RangeError
try { b.resize(2 ** 64) } catch {} b.byteLength //> 16
b.resize(2 ** 64 + 4096) //> RangeError
b.resize(Infinity) //> RangeError
b.resize(-Infinity) //> RangeError
b.resize(-(2 ** 64)) //> RangeError
b.resize(33) //> RangeError
b.resize(-0.9); b.byteLength //> 0
b.resize(); b.byteLength //> 0
b.resize('20'); b.byteLength //> 20
b.resize(8n) //> TypeError
g.grow(2 ** 64) //> RangeError
g.grow(2 ** 64 + 32) //> RangeError
g.grow(Infinity) //> RangeError
b.transfer(2 ** 64) //> RangeError
b.transfer(33) //> RangeError
try { b.transfer(33) } catch {} b.detached //> false
b.transfer(32).byteLength //> 32
b.transfer().byteLength //> 16
b.transfer(undefined).maxByteLength //> 32
b.transfer('8.5').maxByteLength //> 32
b.transferToFixedLength(33).byteLength //> 33
new ArrayBuffer(8).transfer(2 ** 53) //> RangeError

//# the constructor looks like the standards and coerces in its order
[ArrayBuffer.name, ArrayBuffer.length, ArrayBuffer.isView(new Int8Array(1))].join() //> ArrayBuffer,1,true
Object.getOwnPropertyNames(ArrayBuffer).sort().join() //> isView,length,name,prototype
JSON.stringify(Object.getOwnPropertyDescriptor(ArrayBuffer, 'isView')) //> {"writable":true,"enumerable":false,"configurable":true}
JSON.stringify(Object.getOwnPropertyDescriptor(globalThis, 'ArrayBuffer')) //> {"writable":true,"enumerable":false,"configurable":true}
Object.getOwnPropertyDescriptor(ArrayBuffer, 'prototype').writable //> false
ArrayBuffer[Symbol.species] === ArrayBuffer //> true
ArrayBuffer.prototype.constructor === ArrayBuffer && new Int8Array(1).buffer instanceof ArrayBuffer //> true
ArrayBuffer(8) //> TypeError
class Own extends ArrayBuffer {}; const own = new Own(8, { maxByteLength: 9 }); [own instanceof Own, own.resizable].join() //> true,true
for (const f of ['resize', 'slice', 'transfer']) log.push(f, ArrayBuffer.prototype[f].length); log.join() //> resize,1,slice,2,transfer,0
new b.resize() //> TypeError
const target = new Proxy(ArrayBuffer, { get(t, k) { log.push(String(k)); return t[k]; } });
  Reflect.construct(ArrayBuffer, [when(() => log.push('length'), 8), { get maxByteLength() { log.push('max');
  return when(() => log.push('value'), 9); } }], target); log.join() //> length,max,value,prototype
const target = new Proxy(ArrayBuffer, { get(t, k) { log.push(String(k)); return t[k]; } });
  try { Reflect.construct(ArrayBuffer, [8, { maxByteLength: 7 }], target) } catch (e) { log.push(e.name) } log.join() //> RangeError
try { new ArrayBuffer(8).resize(when(() => log.push('coerced'))) } catch (e) { log.push(e.name) } log.join() //> TypeError
try { b.resize.call(g, when(() => log.push('coerced'))) } catch (e) { log.push(e.name) } log.join() //> TypeError
b.transfer(); b.resize(-1) //> RangeError
b.transfer(); b.resize(1) //> TypeError
b.resize(when(() => b.transfer(), 1)) //> TypeError
b.transfer(); [b.maxByteLength, b.byteLength, b.resizable].join() //> 0,0,true
b.transfer(); b.transfer(33) //> TypeError

//# slice copies what is left
String(new Uint8Array(species(bytes(b), n => (b.resize(4), new ArrayBuffer(n))).slice(2, 8))) //> 3,4,0,0,0,0
String(new Uint8Array(species(bytes(b), n => (b.resize(2), new ArrayBuffer(n))).slice(2, 5))) //> 0,0,0
String(new Uint8Array(species(bytes(b), n => (b.resize(0), new ArrayBuffer(n))).slice(2, 5))) //> 0,0,0
String(new Uint8Array(species(bytes(b), n => (b.resize(32), resizable(n + 1))).slice(-2))) //> 15,16,0
species(b, n => (b.transfer(), new ArrayBuffer(n))).slice(2) //> TypeError
species(b, n => new ArrayBuffer(n - 1)).slice(2) //> TypeError
species(b, () => b).slice() //> TypeError
species(b, n => new SharedArrayBuffer(n)).slice() //> TypeError
species(b, n => new Uint8Array(n)).slice() //> TypeError
species(b, n => { const made = new ArrayBuffer(n); made.transfer(); return made; }).slice() //> TypeError
species(b, n => new ArrayBuffer(n).transferToImmutable()).slice() //> TypeError
species(b, undefined).slice(1, 4).byteLength //> 3
species(b, null).slice(1, 4).resizable //> false
species(b, 1).slice() //> TypeError
b.constructor = { [Symbol.species]: () => new ArrayBuffer(16) }; b.slice() //> TypeError
b.constructor = 1; b.slice() //> TypeError
b.constructor = undefined; b.slice(4).byteLength //> 12
String(new Uint8Array(bytes(b).slice(-Infinity, NaN))) //>
b.slice(12, Infinity).byteLength //> 4
b.slice(8, 4).byteLength //> 0
b.slice(Symbol()) //> TypeError
b.slice(when(() => b.resize(8), 4), when(() => b.resize(4), 12)).byteLength //> 8
b.transfer(); b.slice() //> TypeError
ArrayBuffer.prototype.slice.call(g) //> TypeError
ArrayBuffer.prototype.slice.call(1) //> TypeError
SharedArrayBuffer.prototype.slice.call(b) //> TypeError
String(new Uint8Array(species(bytes(g), n => (g.grow(32), growable(n))).slice(-2))) //> 15,16
species(g, () => g).slice() //> TypeError
species(g, n => new ArrayBuffer(n)).slice() //> TypeError
species(g, n => new SharedArrayBuffer(n - 1)).slice(1) //> TypeError
String(new Uint8Array(bytes(new SharedArrayBuffer(4)).slice(1))) //> 2,3,4

//# slice refuses another object on its own memory
one.constructor = { [Symbol.species]: function () { return same; } };
try { one.slice(1); 'copied' } catch (error) { error.name } //> TypeError

//# data views out of bounds are type errors and indices range errors
// How a view is made, what happens, and what an access gives at an index within its old length and at one beyond.
var rows = [
  ["new DataView(b, 8)", "b.resize(4)", "TypeError", "TypeError"],
  ["new DataView(b, 8)", "b.resize(8)", "RangeError", "RangeError"],
  ["new DataView(b, 8)", "b.resize(16)", "0", "RangeError"],
  ["new DataView(b, 8)", "b.resize(8); b.resize(16)", "0", "RangeError"],
  ["new DataView(b, 8)", "b.resize(4); b.resize(32)", "0", "0"],
  ["new DataView(b, 8, 8)", "b.resize(12)", "TypeError", "TypeError"],
  ["new DataView(b, 8, 8)", "b.resize(12); b.resize(16)", "0", "RangeError"],
  ["new DataView(b, 16, 0)", "b.resize(16)", "RangeError", "RangeError"],
  ["new DataView(b, 16, 0)", "b.resize(15)", "TypeError", "TypeError"],
  ["new DataView(b)", "b.resize(0)", "RangeError", "RangeError"],
  ["new DataView(b)", "b.transfer()", "TypeError", "TypeError"],
  ["new DataView(b)", "b.resize(0); b.transfer()", "TypeError", "TypeError"],
  ["new DataView(g, 8)", "g.grow(32)", "0", "0"],
];
var wrong = [], count = 0;
var gives = (program, expected) => {
  b = resizable(16), g = growable(16), count++;
  let given;
  try { given = String((0, eval)(program)); } catch (error) { given = error.name; }
  if (given !== expected) wrong.push(`${program} gives ${given}, not ${expected}`);
};
for (const [view, fate, within, beyond] of rows) {
  for (const element of ["Int8", "Uint16", "Float32", "Float64", "BigInt64", "BigUint64"]) {
    for (const [index, expected] of [[0, within], [8, beyond]]) {
      gives(`var d = ${view}; ${fate}; d.get${element}(${index})`, expected);
      gives(`var d = ${view}; ${fate}; (d.set${element}(${index}, ${element.startsWith("Big") ? "0n" : "0"}), 0)`, expected);
      if (!fate.includes("; ")) gives(`var d = ${view}; b.resize(b.byteLength); d.get${element}(when(() => { ${fate} }, ${index}))`, expected);
    }
  }
}
[count, ...wrong].join("\n") //> 420

//# data views coerce before they look at their bounds
var d = new DataView(b, 8); b.resize(4); d.getInt8(-1) //> RangeError
var d = new DataView(b, 8); b.resize(4); d.setInt8(0, 1n) //> TypeError
var d = new DataView(b, 8); b.resize(4); d.setInt8(0, when(() => { throw new URIError(); })) //> URIError
var d = new DataView(b, 8); b.resize(4); d.setBigInt64(0, 1) //> TypeError
var d = new DataView(b, 8); b.resize(4); d.setBigInt64(0, 'x') //> SyntaxError
var d = new DataView(b); b.resize(16); d.setBigInt64(0, 2n ** 64n - 1n); d.getBigInt64(0) //> -1
var d = new DataView(b); b.resize(16); d.setUint16(0, 258, true); [d.getUint16(0), d.getUint8(0)].join() //> 513,2
var d = new DataView(b); b.resize(16); d.setFloat64(0); d.getFloat64(0) //> NaN
b.resize(16); DataView.prototype.getInt8.call(new Int8Array(1), 0) //> TypeError
var d = new DataView(new ArrayBuffer(8).transferToImmutable()); d.setInt8(when(() => { throw new URIError(); }), 0) //> TypeError
[DataView.prototype.getInt8.length, DataView.prototype.setFloat64.length, DataView.prototype.getInt8.name].join() //> 1,2,getInt8

//# arrays are frozen if they can have no elements
Object.isFrozen(Object.freeze(new Uint8Array(g, 0, 0))) //> true
Object.isFrozen(Object.freeze(new Uint8Array(0))) //> true
Object.freeze(new Uint8Array(g, 0, 1)) //> TypeError
Object.freeze(new Uint8Array(g)) //> TypeError
Object.freeze(new Uint8Array(growable(0))) //> TypeError
Object.freeze(new Uint8Array(b, 0, 0)) //> TypeError
Object.freeze(new Uint8Array(resizable(0))) //> TypeError
Object.freeze(new Uint8Array(1)) //> TypeError
var t = new Uint8Array(8); t.buffer.transfer(); Object.isFrozen(Object.freeze(t)) //> true
var s = Symbol(), t = Object.assign(new Uint8Array(g, 0, 0), { x: 1, [s]: 2 });
  Object.defineProperty(t, 'y', { get() { return 3; }, configurable: true }); Object.freeze(t);
  [t.x, t[s], t.y, Object.isFrozen(t), Reflect.set(t, 'x', 2), delete t[s], delete t.y].join() //> 1,2,3,true,false,false,false
var t = Object.assign(new Uint8Array(g, 0, 1), { x: 1 }); try { Object.freeze(t) } catch {} t.x = 2; t.x //> 2
Object.freeze(Object.preventExtensions(new Uint8Array(g, 0, 0))).length //> 0
[Object.freeze(1), Object.isFrozen(Object.freeze({ a: 1 })), Object.freeze.length, Object.freeze.name].join() //> 1,true,1,freeze
Object.freeze(new Proxy({}, { preventExtensions() { return false; } })) //> TypeError
Object.freeze(new DataView(b)).byteLength //> 16

//# set between types on the same memory copies the source first
new Uint8Array(one).set([1, 2, 3, 4, 5, 6, 7, 8]);
new Uint16Array(one).set(new Uint8Array(same, 0, 4)); String(new Uint8Array(one, 0, 8)) //> 1,0,2,0,3,0,4,0
bytes(b); new Uint16Array(b, 0, 4).set(new Uint8Array(b, 0, 4)); String(new Uint8Array(b, 0, 8)) //> 1,0,2,0,3,0,4,0
bytes(b); new Uint8Array(b, 2).set(new Uint16Array(b, 0, 3), 1); String(new Uint8Array(b, 0, 8)) //> 1,2,3,1,3,5,7,8
bytes(b); new Uint8Array(b, 4).set(new Uint8Array(b, 0, 8)); String(new Uint8Array(b, 0, 14)) //> 1,2,3,4,1,2,3,4,5,6,7,8,13,14
bytes(b); new Uint16Array(b).set(new Uint8Array(b, 0, 4), -1) //> RangeError
bytes(b); new Uint16Array(b).set(new Uint8Array(b, 0, 4), 5) //> RangeError
new BigInt64Array(b).set(new Uint8Array(b, 0, 1)) //> TypeError
var t = new Uint16Array(b); t.set(new Uint8Array(b, 0, 1), when(() => b.transfer())) //> TypeError
var t = new Uint16Array(b); t.set(new Uint8Array(b, 8, 1), when(() => b.resize(8))) //> TypeError
new Uint16Array(new ArrayBuffer(4).transferToImmutable()).set([1]) //> TypeError
[t = new Uint8Array(2), t.set('12'), t].join() //> 1,2,,1,2
Uint8Array.prototype.set.call([], [1]) //> TypeError

//# with and sort survive what scripts do meanwhile
new Int8Array(b).with(when(() => b.resize(4), 8), 1) //> RangeError
new Int8Array(b).with(0, when(() => b.transfer())) //> RangeError
new Int8Array(b, 8).with(when(() => b.resize(4)), 1) //> RangeError
new Int8Array(b, 8, 8).with(0, when(() => b.resize(12))) //> RangeError
var t = new Int8Array(b, 8); b.resize(4); t.with(when(() => { throw new URIError(); }), 0) //> TypeError
String(new Int16Array(bytes(b)).with(1, when(() => b.resize(6), 9))) //> 513,9,1541,0,0,0,0,0
String(new Float64Array(b).with(0, when(() => b.resize(8), 9))) //> 9,NaN
String(new Int32Array(b).with(-1, when(() => b.resize(32), 9))) //> 0,0,0,9
String(new BigInt64Array(b).with(-1, 3n)) //> 0,3
new BigInt64Array(b).with(0, 3) //> TypeError
new Int8Array(b).with(16, 1) //> RangeError
String(new Int8Array(bytes(b)).sort((x, y) => (b.resize(4), y - x))) //> 16,15,14,13
var t = new Int8Array(bytes(b), 8); t.sort((x, y) => (b.resize(4), y - x)); [t.length, new Int8Array(b)].join() //> 0,1,2,3,4
var t = new Int8Array(bytes(b)); t.sort((x, y) => (t[0] = 99, y - x)); t[0] //> 16
new Int8Array(bytes(b), 0, 4).sort((x, y) => (b.detached || b.transfer(), y - x)).length //> 0
String(new Int8Array(bytes(b), 0, 4).sort((x, y) => (b.resize(32), y - x))) //> 4,3,2,1
var t = new Int8Array([3, 1, 2]); [t.sort((x, y) => x - y) === t, String(t), t.sort((x, y) => y - x)].join() //> true,1,2,3,3,2,1
new Int8Array(2).sort(1) //> TypeError
new Int8Array(2).sort(() => { throw new URIError(); }) //> URIError
Int8Array.prototype.constructor = { get [Symbol.species]() { log.push('species'); } };
  new Int8Array(bytes(b)).sort((x, y) => (b.resize(4), y - x)); log.join() //>
var f = Int8Array.prototype; [f.sort.length, f.with.length, f.set.length, f.set.name].join() //> 1,2,1,set
