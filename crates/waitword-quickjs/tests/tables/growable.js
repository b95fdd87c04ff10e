// SharedArrayBuffers that grow, in one agent.
var g = new SharedArrayBuffer(8, { maxByteLength: 64 }), v = new Int32Array(g), log = [];
var poison = { valueOf() { throw new EvalError(); } };
var run = (f) => { try { return String(f()); } catch (error) { return error.name; } };

//# a buffer knows how long it is and may become
[g.byteLength, g.maxByteLength, g.growable, v.length].join() //> 8,64,true,2
g.grow(16); g.grow(16); [g.byteLength, v.length, v[3]].join() //> 16,4,0
var f = new SharedArrayBuffer(8); [f.byteLength, f.maxByteLength, f.growable].join() //> 8,8,false
var e = new SharedArrayBuffer(0, { maxByteLength: 0 }); e.grow(0); [e.byteLength, e.maxByteLength, e.growable].join() //> 0,0,true
var z = new SharedArrayBuffer(); [z.byteLength, z.maxByteLength, z.growable].join() //> 0,0,false

//# the constructor coerces in order and refuses what cannot be
var target = new Proxy(SharedArrayBuffer, { get(t, k, r) { log.push(String(k)); return Reflect.get(t, k, r); } });
Reflect.construct(SharedArrayBuffer, [{ valueOf() { log.push("length"); return 8; } },
  { get maxByteLength() { log.push("max"); return { valueOf() { log.push("max value"); return 16; } }; } }], target);
log.join() //> length,max,max value,prototype
new SharedArrayBuffer(-1) //> RangeError
new SharedArrayBuffer(2 ** 53) //> RangeError
new SharedArrayBuffer(2 ** 53 - 1) //> RangeError
new SharedArrayBuffer(2 ** 31) //> RangeError
new SharedArrayBuffer(8, { maxByteLength: 7 }) //> RangeError
new SharedArrayBuffer(8, { maxByteLength: -1 }) //> RangeError
var target = new Proxy(SharedArrayBuffer, { get(t, k, r) { log.push(String(k)); return Reflect.get(t, k, r); } });
try { Reflect.construct(SharedArrayBuffer, [8, { maxByteLength: 7 }], target) } catch (error) { log.push(error.name) }
log.join() //> RangeError
new SharedArrayBuffer(8, { maxByteLength: 2 ** 53 - 1 }) //> RangeError
new SharedArrayBuffer(8, { maxByteLength: 2 ** 31 }) //> RangeError
new SharedArrayBuffer(7e15, { maxByteLength: 7e15 }) //> RangeError
new SharedArrayBuffer(8, "no object").growable //> false
new SharedArrayBuffer(8, { maxByteLength: undefined }).growable //> false
new SharedArrayBuffer(8, { maxByteLength: "16" }).maxByteLength //> 16

//# grow refuses to shrink to pass the maximum and to grow what cannot
[run(() => g.grow(7)), g.byteLength].join() //> RangeError,8
[run(() => g.grow(65)), g.byteLength].join() //> RangeError,8
g.grow(-1) //> RangeError
g.grow(2 ** 53) //> RangeError
g.grow(1n) //> TypeError
new SharedArrayBuffer(8).grow(8) //> TypeError
new SharedArrayBuffer(8).grow(poison) //> TypeError
g.grow.call({}, 8) //> TypeError
g.grow.call(new ArrayBuffer(8, { maxByteLength: 16 }), 8) //> TypeError
[run(() => g.grow(poison)), g.byteLength].join() //> EvalError,8
["byteLength", "maxByteLength", "growable"].map((getter) => run(() => Reflect.get(SharedArrayBuffer.prototype, getter, new ArrayBuffer(8)))) //> TypeError,TypeError,TypeError

//# the length is taken before the index is coerced
// Growing comes too late.
[(i) => Atomics.wait(v, i, 0, 0), (i) => Atomics.waitAsync(v, i, 0, 0), (i) => Atomics.notify(v, i)].map((call) => {
  g = new SharedArrayBuffer(8, { maxByteLength: 64 }), v = new Int32Array(g);
  return [run(() => call(2)), run(() => call({ valueOf() { g.grow(64); return 2; } })), run(() => call(2)) !== "RangeError"].join();
}).join(" ") //> RangeError,RangeError,true RangeError,RangeError,true RangeError,RangeError,true

//# views with a length of their own keep it
var fixed = new Int32Array(g, 0, 2); g.grow(64); [Atomics.notify(fixed, 1), run(() => Atomics.notify(fixed, 2))].join() //> 0,RangeError
g.grow(64); var offset = new Int32Array(g, 56); [Atomics.notify(offset, 1), run(() => Atomics.notify(offset, 2))].join() //> 0,RangeError
