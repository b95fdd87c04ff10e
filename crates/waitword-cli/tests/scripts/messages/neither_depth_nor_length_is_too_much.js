//> 200000 1 1
//> 4294967295 [ '5', '4294967294' ] true
//> [ 99999 ]
//> true
//> 7 true
//> 5000

const nest = (wrap) => { let value = null; for (let i = 0; i < 2e5; i++) value = wrap(value); return value; };
let depth = 0;
for (let each = structuredClone(nest((next) => ({ next }))); each; each = each.next) depth++;
console.log(depth, structuredClone(nest((inner) => [inner])).length, structuredClone(nest((key) => new Map([[key, 1]]))).size);
const sparse = [];
sparse[4294967294] = 1;
sparse[5] = { named: sparse };
const copy = structuredClone(sparse);
console.log(copy.length, Object.keys(copy), copy[5].named === copy);
console.log(structuredClone(new Map(Array.from({ length: 1e5 }, (_, i) => [i, [i]]))).get(99999));
console.log(structuredClone("\u00ff\ud800x".repeat(1e6)) === "\u00ff\ud800x".repeat(1e6));
console.log(structuredClone(new Uint8Array(5e7).fill(7)).at(-1), structuredClone(-(7n ** 5000n)) === -(7n ** 5000n));
const ports = Array.from({ length: 5000 }, () => new MessageChannel().port1);
console.log(new Set(structuredClone(ports, { transfer: ports })).size);
