//@ each PATCH in patches.txt
//> {
//>   list: [ 1, <1 empty item>, 'two' ],
//>   map: Map(1) { 1 => { deep: [] } },
//>   set: Set(1) { 'x' },
//>   date: 1970-01-01T00:00:00.000Z,
//>   re: /a/gi,
//>   bytes: Uint8Array(2) [ 1, 2 ],
//>   buffer: ArrayBuffer { [Uint8Contents]: <00 00>, byteLength: 2 },
//>   boxed: [Number: 1],
//>   big: 10n,
//>   done: Promise { 7 },
//>   f: [Function: f],
//>   symbol: Symbol(s),
//>   nothing: null,
//>   class: [class A]
//> }
//> one is 1.5 of 2, "json" 'o'

const { ownKeys } = Reflect;
const { defineProperty, getPrototypeOf } = Object;
const boom = () => { throw "patched"; };
const each = (list, use) => { for (let at = 0; at < list.length; at++) use(list[at]); };
const values = { list: [1, , "two"], map: new Map([[1, { deep: [] }]]), set: new Set(["x"]), date: new Date(0),
    re: /a/gi, bytes: new Uint8Array([1, 2]), buffer: new ArrayBuffer(2), boxed: Object(1), big: 10n,
    done: Promise.resolve(7), f() {}, symbol: Symbol("s"), nothing: null, class: class A {} };
const { log } = console;
PATCH;
log(values);
log("%s is %d of %i, %j %o", "one", 1.5, 2.7, "json", "o");
