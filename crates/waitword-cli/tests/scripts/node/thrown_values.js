// What a worker throws that is no Error, or more than one; and what rejections say of their reasons.
//@ flags: --main-can-block
//@ stdout: as on Node

const { Worker } = require("node:worker_threads");
const { ran } = require("./support/worker.js");
const programs = [
  "throw function f() {}",
  "throw Symbol('s')",
  "throw () => 1",
  "throw class A {}",
  "throw undefined",
  "throw null",
  "throw 5n",
  "throw NaN",
  "throw 'text'",
  "throw [1, 2]",
  "throw new Map([[1, 2]])",
  "throw { f() {} }",
  "throw { a: Symbol() }",
  "throw new Proxy({}, {})",
  "throw new WeakMap()",
  "throw Promise.resolve(1)",
  "throw Object.assign(new Error('e'), { f() {}, s: Symbol('q'), ok: 1 })",
  "throw new Error('outer', { cause: new RangeError('inner') })",
];
(async () => {
  for (const each of programs) console.log(each, "\n  ", await ran(each));
  // The errors of an AggregateError, and what else is on an error; the class of one of another name.
  const error = (source) => new Promise((resolve) => new Worker(source, { eval: true }).on("error", resolve));
  const parts = (e) => [e.name, e.message, e instanceof Error, e.cause?.message, e.errors?.map((each) => each?.message ?? each), e.errors?.[0] instanceof TypeError];
  console.log(parts(await error("throw new AggregateError([new TypeError('one'), 2], 'agg')")));
  console.log(parts(await error("throw new AggregateError([new TypeError('one'), { f: 1 }], 'agg', { cause: new RangeError('c') })")));
  console.log(parts(await error("Promise.reject(new AggregateError([new TypeError('one')], 'agg'))")));
  console.log(parts(await error("const e = new Error('t'); e.errors = [new TypeError('q')]; throw e")));
  for (const text of ["class MyE extends RangeError { constructor(m) { super(m); this.name = 'MyE' } } throw new MyE('mine')",
    "class MyE extends RangeError { } throw new MyE('mine')", "const e = new TypeError('t'); e.name = 'Other'; throw e",
    "const e = new TypeError('t'); Object.defineProperty(e, 'hidden', { value: 7, enumerable: false }); throw e"]) {
    const e = await error(text);
    console.log(e.name, e.constructor.name, e.hidden, Object.keys(e).includes("hidden"));
  }
  {
  const s = await error("throw Symbol('s')"); console.log(s, s === Symbol.for("s"), Symbol.keyFor(s));
  const t = await error("throw Symbol.for('t')"); console.log(t, t === Symbol.for("t"));
  const u = await error("throw Symbol()"); console.log(u, u.description);
  const it = await error("throw Symbol.iterator"); console.log(it, it === Symbol.iterator);
  for (const r of ["{ a: 1 }", "[1, 2]", "'text'", "5n", "null", "() => 1", "class A {}", "new Map()", "new Date(0)", "Object.create(null)", "new (class Q {})", "/x/", "{ toString() { return 'ts' } }"]) console.log(r, (await error(`Promise.reject(${r})`)).message.slice(-60));
  }
})();
