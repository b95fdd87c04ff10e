// Operations on views of a buffer that was 16 bytes long, and what they give once it has 32 (`growth.rs`).
t.length //> 8
t.byteLength //> 32
t.byteOffset //> 0
o.length //> 6
o.byteLength //> 24
b.length //> 4
h.length //> 4
u.length //> 32
r.length //> 16
sub.length //> 7
f.length //> 4
f[4] //> undefined
t[6] //> 0
t[8] //> undefined
t[7] = 5, t[7] //> 5
t[8] = 5, t[8] //> undefined
(t[7] += 2, t[7]++, t[7]) //> 3
u[31] = 1, t[7] //> 16777216
6 in t //> true
8 in t //> false
Object.hasOwn(t, 7) //> true
t.hasOwnProperty(7) //> true
Reflect.has(t, '7') //> true
Reflect.get(t, 7) //> 0
Reflect.set(t, 7, 9) && t[7] //> 9
Reflect.ownKeys(t).length //> 8
Object.keys(t).join() //> 0,1,2,3,4,5,6,7
Object.entries(t).length //> 8
Object.values(t).length //> 8
Object.getOwnPropertyDescriptor(t, 7).value //> 0
Object.defineProperty(t, 7, { value: 4 })[7] //> 4
delete t[8] //> true
Reflect.deleteProperty(t, 7) //> false
keys(t) //> 0,1,2,3,4,5,6,7
[...t].length //> 8
[...t.keys()].join() //> 0,1,2,3,4,5,6,7
[...t.entries()].length //> 8
Array.from(t).length //> 8
Array.prototype.slice.call(t).length //> 8
(() => { let n = 0; for (const _ of t) n++; return n; })() //> 8
((...all) => all.length)(...t) //> 8
Math.max.apply(null, t) //> 0
(([, , , , , , , last]) => last)(t) //> 0
(({ 7: last }) => last)(t) //> 0
JSON.stringify(t) //> {"0":0,"1":0,"2":0,"3":0,"4":0,"5":0,"6":0,"7":0}
Object.assign({}, t)[7] //> 0
({ ...t })[7] //> 0
t.at(-1) //> 0
(t[7] = 3, t.at(7)) //> 3
t.join('') //> 00000000
t.toString().length //> 15
t.fill(1).reduce((sum, each) => sum + each) //> 8
t.fill(1), t.reduceRight((sum, each) => sum + each) //> 8
(t.fill(2, 6), t[7]) //> 2
(t[7] = 1, t.indexOf(1)) //> 7
(t[7] = 1, t.lastIndexOf(1)) //> 7
(t[7] = 1, t.includes(1)) //> true
(t[7] = 1, t.find(each => each === 1)) //> 1
(t[7] = 1, t.findIndex(each => each === 1)) //> 7
(t[7] = 1, t.findLast(each => each === 1)) //> 1
(t[7] = 1, t.findLastIndex(each => each === 1)) //> 7
(t[7] = 1, t.some(each => each === 1)) //> true
(t[7] = 1, t.every(each => each === 0)) //> false
(() => { let n = 0; t.forEach(() => n++); return n; })() //> 8
t.map((_, index) => index)[7] //> 7
t.filter(() => true).length //> 8
t.slice().length //> 8
t.slice(-2).length //> 2
t.subarray(2).length //> 6
t.subarray(6, 8).length //> 2
(t.set([1, 2], 6), t[7]) //> 2
(t.set(new Int32Array(8).fill(3)), t[7]) //> 3
(new Int32Array(8).fill(1).set(t), 'set') //> set
(t[0] = 4, t.copyWithin(6, 0, 1), t[6]) //> 4
(t[7] = 1, t.reverse(), t[0]) //> 1
(t[0] = 1, t.sort(), t[7]) //> 1
(t[0] = 1, t.sort((x, y) => x - y), t[7]) //> 1
t.toReversed().length //> 8
t.toSorted().length //> 8
t.with(7, 6)[7] //> 6
new Int32Array(g).length //> 8
new Int32Array(g, 16).length //> 4
new Int32Array(g, 16, 4).length //> 4
new Int32Array(t).length //> 8
Int32Array.from(t).length //> 8
Int32Array.of(...t).length //> 8
Array.from(iterator).length //> 8
new DataView(g, 28).getInt32(0) //> 0
new DataView(g, 28, 4).byteLength //> 4
d.byteLength //> 32
e.byteLength //> 16
(d.setInt32(28, 7), d.getInt32(28)) //> 7
(e.setFloat64(8, 1.5), e.getFloat64(8)) //> 1.5
(d.setBigInt64(24, 3n), d.getBigUint64(24)) //> 3
d.getUint8(31) //> 0
thrown(() => d.getUint8(32)) //> RangeError
thrown(() => e.getUint8(16)) //> RangeError
// From here on ours, which look themselves.
g.byteLength //> 32
a.byteLength //> 32
g.slice(24).byteLength //> 8
Atomics.load(t, 7) //> 0
(Atomics.store(t, 7, 2), Atomics.add(t, 7, 1)) //> 2
Atomics.compareExchange(b, 3, 0n, 1n) //> 0
Atomics.notify(t, 7) //> 0
Atomics.wait(t, 7, 1) //> not-equal
thrown(() => Atomics.load(t, 8)) //> RangeError
thrown(() => g.grow(31)) //> RangeError
