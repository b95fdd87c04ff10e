// What the functions are as objects, in the first realm and in any other.
//@ two realms
var show = (o, k) => {
  const d = Object.getOwnPropertyDescriptor(o, k);
  return [typeof d.value === "function" ? "f" : d.value, +d.writable, +d.enumerable, +d.configurable].join();
};
var shape = (name) => [show(Atomics, name), show(Atomics[name], "name"), show(Atomics[name], "length"), Reflect.ownKeys(Atomics[name]).join(),
  Object.getPrototypeOf(Atomics[name]) === Function.prototype, Object.isExtensible(Atomics[name])].join(";");
var names = ["wait", "waitAsync", "notify"];
var v = new Int32Array(new SharedArrayBuffer(4));

//# functions have the names lengths and attributes of the standard
shape("wait") //> f,1,0,1;wait,0,0,1;4,0,0,1;length,name;true;true
shape("waitAsync") //> f,1,0,1;waitAsync,0,0,1;4,0,0,1;length,name;true;true
shape("notify") //> f,1,0,1;notify,0,0,1;3,0,0,1;length,name;true;true
names.map((name) => { try { new Atomics[name](); } catch (e) { return e.constructor === TypeError; } }) //> true,true,true
names.map((name) => { try { Reflect.construct(Object, [], Atomics[name]); } catch (e) { return e.name; } }) //> TypeError,TypeError,TypeError
Object.getOwnPropertyNames(Atomics).filter((n) => Atomics[n].length > 0 && !/pause|wait|notify|isLock/.test(n)).sort()
  .map((n) => [n, show(Atomics, n), Atomics[n].name, Atomics[n].length, "prototype" in Atomics[n]].join(" ")) //> add f,1,0,1 add 3 false,and f,1,0,1 and 3 false,compareExchange f,1,0,1 compareExchange 4 false,exchange f,1,0,1 exchange 3 false,load f,1,0,1 load 2 false,or f,1,0,1 or 3 false,store f,1,0,1 store 3 false,sub f,1,0,1 sub 3 false,xor f,1,0,1 xor 3 false

//# functions can be deleted and replaced
"use strict"; delete Atomics.wait; Atomics.notify = 1;
[typeof Atomics.wait, Atomics.notify, typeof Atomics.waitAsync].join() //> undefined,1,function

//# this does not matter
const { wait, waitAsync, notify } = Atomics;
[wait(v, 0, 1), waitAsync.call(null, v, 0, 1).value, notify.call(1, v, 0)].join() //> not-equal,not-equal,0

//# results of waitAsync are ordinary objects of the functions realm
var result = (r, g) => [Object.getPrototypeOf(r) === g.Object.prototype, Reflect.ownKeys(r).join(),
  ...Object.values(Object.getOwnPropertyDescriptors(r)).map((d) => [+d.writable, +d.enumerable, +d.configurable].join("")),
  Object.isExtensible(r), r.value instanceof g.Promise || r.value].join();
[globalThis, sibling].flatMap((g) => [[0, 0], [0, 1], [0, 0, 0]].map((args) => result(g.Atomics.waitAsync(v, ...args), g))).join(" ") //> true,async,value,111,111,true,true true,async,value,111,111,true,not-equal true,async,value,111,111,true,timed-out true,async,value,111,111,true,true true,async,value,111,111,true,not-equal true,async,value,111,111,true,timed-out

//# errors belong to the functions realm
var kind = (f) => { try { f() } catch (e) { return e instanceof sibling.TypeError ? "theirs" : e instanceof TypeError ? "ours" : e; } };
[() => sibling.Atomics.wait(), () => Atomics.wait(), () => sibling.Atomics.notify(), () => sibling.Atomics.waitAsync(),
  () => sibling.SharedArrayBuffer.prototype.grow.call({})].map(kind) //> theirs,ours,theirs,theirs,theirs

//# SharedArrayBuffer looks like the standards
// Each property: value or get and set, then writable, enumerable, configurable.
var show = (o, k) => {
  const d = Object.getOwnPropertyDescriptor(o, k);
  return String(k) + ":" + Object.keys(d).map((n) => typeof d[n] === "boolean" ? +d[n] : typeof d[n]).join("") +
    (d.get ? d.get.name + d.get.length : typeof d.value === "function" ? d.value.name + d.value.length : "");
};
[show(globalThis, "SharedArrayBuffer"), ...Reflect.ownKeys(SharedArrayBuffer).map((k) => show(SharedArrayBuffer, k)),
  ...Reflect.ownKeys(SharedArrayBuffer.prototype).map((k) => show(SharedArrayBuffer.prototype, k)).sort()].join(" ") //> SharedArrayBuffer:function101SharedArrayBuffer1 length:number001 name:string001 prototype:object000 Symbol(Symbol.species):functionundefined01get [Symbol.species]0 Symbol(Symbol.toStringTag):string001 byteLength:functionundefined01get byteLength0 constructor:function101SharedArrayBuffer1 grow:function101grow1 growable:functionundefined01get growable0 maxByteLength:functionundefined01get maxByteLength0 slice:function101slice2
SharedArrayBuffer(8) //> TypeError

//# SharedArrayBuffer can be extended
class X extends SharedArrayBuffer {}
var fixed = new X(8), growable = new X(8, { maxByteLength: 16 });
growable.grow(12);
var f = new sibling.Function(); f.prototype = null;
[fixed instanceof X, growable instanceof X, growable.byteLength, growable.slice(4) instanceof X,
  Reflect.construct(SharedArrayBuffer, [8, { maxByteLength: 8 }], f) instanceof sibling.SharedArrayBuffer].join() //> true,true,12,true,true

//# waitAsync has one of three results, and looks at the word before a timeout of zero
var kind = (r) => r.async + " " + (typeof r.value === "string" ? r.value : Object.prototype.toString.call(r.value));
[[1], [0, 0], [1, 0], [0, 5e-324], [0]].map((rest) => kind(Atomics.waitAsync(v, 0, ...rest))) //> false not-equal,false timed-out,false not-equal,true [object Promise],true [object Promise]

//# a queue is that of a block and a byte, and a word is compared as a whole
var big = new BigInt64Array(one), small = new Int32Array(one); Atomics.waitAsync(big, 1, 0n); Atomics.waitAsync(small, 2, 0);
[Atomics.notify(small, 3), Atomics.notify(small, 2, 1), Atomics.notify(big, 1)] //> 0,1,1
Atomics.waitAsync(new Int32Array(same, 8), 1, 0); Atomics.notify(new Int32Array(one), 3) //> 1
var other = new Int32Array(new SharedArrayBuffer(4)); Atomics.waitAsync(v, 0, 0); [Atomics.notify(other, 0), Atomics.notify(v, 0)] //> 0,1
var big = new BigInt64Array(new SharedArrayBuffer(8)); big[0] = 2n ** 32n;
[Atomics.waitAsync(big, 0, 0n).value, Atomics.waitAsync(big, 0, 2n ** 32n).async] //> not-equal,true
