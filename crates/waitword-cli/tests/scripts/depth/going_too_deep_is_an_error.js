// Whatever goes deep ends in an error that the script can catch, never in a dead process.
//@ each DEEP: function f() { f(); } f()
//@ each DEEP: const f = () => [1].map(f); f()
//@ each DEEP: const o = { get x() { return o.x; } }; o.x
//@ each DEEP: const o = { toString() { return `${o}`; } }; `${o}`
//@ each DEEP: let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); p.x
//@ each DEEP: let b = () => {}; for (let i = 0; i < 3e4; i++) b = Object.defineProperty(b.bind(null), 'name', { value: '' }); Reflect.apply(b, b, [])
//@ each DEEP: const a = []; a.push(a); a.flat(Infinity)
//@ each DEEP: JSON.parse('['.repeat(1e6))
//@ each DEEP: eval('('.repeat(1e6))
//@ each DEEP: eval('['.repeat(1e5) + ']'.repeat(1e5))
//@ each DEEP: eval('1' + '+1'.repeat(1e6)); throw new RangeError()
//@ each DEEP: new RegExp('('.repeat(1e6))
//@ each DEEP: /^(a|b|c)*$/.test('abc'.repeat(1e6)); throw new RangeError()
//@ each DEEP: let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; JSON.stringify(o)
//@ each DEEP: let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; require('util').inspect(o, { depth: null })
//@ each DEEP: let e; for (let i = 0; i < 1e5; i++) e = new Error('e', { cause: e }); require('util').inspect(e, { depth: null })
//@ each DEEP: const handler = {}; handler.get = () => new Proxy({}, handler).x; new Proxy({}, handler).x
//@ each DEEP: class A { constructor() { new A(); } } new A()
//@ each DEEP: function* g() { yield* g(); } [...g()]
//@ each DEEP: const f = async () => { await f(); }; f().catch(() => {}); throw new RangeError()
//@ each DEEP: const { port1 } = new MessageChannel(); port1.on('close', function f() { port1.emit('close'); }); port1.emit('close')
//> caught
//> alive

process.on("exit", () => console.log("alive"));
try {
  DEEP;
} catch (error) {
  if (!(error instanceof RangeError || error instanceof SyntaxError || error instanceof InternalError)) throw error;
  console.log("caught");
}
