// What a parent hears of an error that its worker threw, whatever the script made of its name, message and stack: class, name, message, and
// what is enumerable. A message is text there, as in a clone; Node 20 keeps other values.
//@ stdout: checks
//@ node: same
//@ node differs: a message whose toString throws
//@ node differs: several errors
//@ node differs: a class with a message
//@ node differs: a DOMException

const { Worker } = require("node:worker_threads");

const cases = {
  "a getter for the message": [`const e = new Error("x"); Object.defineProperty(e, "message", { get() { return "got"; } }); throw e;`, `Error | Error | got | `],
  "a message that throws": [`const e = new Error("x"); Object.defineProperty(e, "message", { get() { throw 1; } }); throw e;`, `Error | Error |  | `],
  "a name that throws": [`const e = new Error("x"); Object.defineProperty(e, "name", { get() { throw 1; } }); throw e;`, `Error | Error | x | `],
  "a class whose name throws": [`class E extends Error { get name() { throw 1; } } throw new E("x");`, `Error | Error | x | `],
  "a number as the message": [`const e = new Error("x"); e.message = 5; throw e;`, `Error | Error | 5 | `],
  "an object as the message": [`const e = new Error("x"); e.message = { toString() { return "obj"; } }; throw e;`, `Error | Error | obj | `],
  "a message whose toString throws": [`const e = new Error("x"); e.message = { toString() { throw 1; } }; throw e;`, `Error | Error |  | `],
  "a symbol as the message": [`const e = new Error("x"); e.message = Symbol("s"); throw e;`, `Error | Error |  | `],
  "null as the message": [`const e = new Error("x"); e.message = null; throw e;`, `Error | Error | null | `],
  "undefined as the message": [`const e = new Error("x"); e.message = undefined; throw e;`, `Error | Error | undefined | `],
  "no message": [`throw new Error();`, `Error | Error |  | `],
  "a number as the name": [`const e = new Error("x"); e.name = 5; throw e;`, `Error | 5 | x | name`],
  "a symbol as the name": [`const e = new Error("x"); e.name = Symbol("s"); throw e;`, `Error | Error | x | `],
  "undefined as the name": [`const e = new Error("x"); e.name = undefined; throw e;`, `Error | undefined | x | name`],
  "the name of another class": [`const e = new Error("x"); e.name = "TypeError"; throw e;`, `Error | TypeError | x | name`],
  "a number as the stack": [`const e = new Error("x"); e.stack = 5; throw e;`, `Error | Error | x | `],
  "a stack that throws": [`const e = new Error("x"); Object.defineProperty(e, "stack", { get() { throw 1; } }); throw e;`, `Error | Error | x | `],
  "a cause": [`throw new Error("x", { cause: { a: 1 } });`, `Error | Error | x | `],
  "a cause that cannot be cloned": [`throw new Error("x", { cause: () => {} });`, `Error | Error | x | `],
  "several errors": [`throw new AggregateError([new Error("a")], "x");`, `AggregateError | AggregateError | x | `],
  "a class with properties": [`class E extends RangeError { constructor() { super("x"); this.code = "C"; this.f = () => {}; } } throw new E();`, `RangeError | RangeError | x | code`],
  "a class with a message": [`class E extends Error {} E.prototype.message = "p"; throw new E();`, `Error | Error | p | `],
  "a DOMException": [`throw new DOMException("d", "AbortError");`, `DOMException | AbortError | d | `],
  "no prototype": [`const e = new Error("x"); Object.setPrototypeOf(e, null); throw e;`, `Error | Error | x | `],
  "a frozen error": [`throw Object.freeze(new Error("x"));`, `Error | Error | x | `],
  "a number": [`throw 5`, `5`],
  "an object": [`throw { a: 1 }`, `Object | undefined | undefined | a`],
  "a symbol": [`throw Symbol("q")`, `Symbol(q)`],
};
const attempt = (read) => {
  try {
    return String(read());
  } catch (error) {
    return `throws ${error}`;
  }
};
const shown = (thrown) => (typeof thrown !== "object" || thrown === null
  ? String(thrown)
  : [thrown.constructor?.name, attempt(() => thrown.name), attempt(() => thrown.message), Object.keys(thrown).join()].join(" | "));
const seen = (source) => new Promise((resolve) => {
  new Worker(source, { eval: true }).on("error", (thrown) => resolve(shown(thrown)));
});

Promise.all(Object.values(cases).map(([source]) => seen(source))).then((all) => Object.entries(cases).forEach(([name, [, expected]], at) => {
  console.log(all[at] === expected ? `ok  ${name}: ${all[at]}` : `BAD ${name}: ${all[at]}, not ${expected}`);
}));
