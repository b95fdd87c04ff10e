// How console.log lays values out: many of them, drawn from a generator that is the same everywhere.
//@ flags: --main-can-block
//@ stdout: as on Node

let seed = 7;
const draw = (n) => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) % n;
const leaves = [
  () => draw(1000), () => "x".repeat(draw(12)), () => draw(9) / 4, () => null, () => BigInt(draw(99)), () => -draw(50), () => undefined,
  () => draw(2) === 1, () => new Date(draw(1e9)), () => /a/g, () => Symbol("s"), () => new Uint8Array(draw(9)),
];
const value = (depth) => {
  const [kind, size] = [draw(7), draw(14)];
  const list = (length, make) => Array.from({ length }, (_, at) => make(at));
  if (depth === 0 || kind === 0) return leaves[draw(leaves.length)]();
  if (kind === 1) return list(size * 2, () => draw(5000));
  if (kind === 2) return list(size, () => value(depth - 1));
  if (kind === 3) return new Map(list(size >> 2, (at) => [`k${at}`, value(depth - 1)]));
  if (kind === 4) return new Set(list(size, () => value(depth - 1)));
  return Object.fromEntries(list(size >> 1, (at) => [`key${at}`, value(depth - 1)]));
};
for (let round = 0; round < 300; round++) console.log(round, value(4));
console.log(Array.from({ length: 101 }, (_, at) => `item${at}`), new Float64Array(150));
console.log({ a: { b: { c: {} } } }, { a: { b: { c: [] } } }, { a: { b: { c: { d: 1 } } } }, { a: { b: { c: new Map() } } }, { a: { b: { c: class X {} } } });
