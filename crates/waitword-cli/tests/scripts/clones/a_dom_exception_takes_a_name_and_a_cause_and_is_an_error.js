//@ stdout: starts
//> AbortError m 20 true true true true
//> true false true false false
//> Error 0 Error undefined
//> AbortError: m [object DOMException] AbortError: m true false
//> TypeError
//> TypeError
//> TypeError
//> TypeError
//> TypeError
//> TypeError
//> 25 true 0
//> 25 false true false
//> 25 false true false
//> InvalidCharacterError 5 true true
//> InvalidCharacterError 5 true true
//> AbortError: m

const show = (...all) => console.log(...all);
const cause = { why: 1 };
const e = new DOMException("m", { name: "AbortError", cause });
show(e.name, e.message, e.code, e.cause === cause, e instanceof Error, Error.isError(e), e.constructor === DOMException);
const { writable, enumerable, configurable } = Object.getOwnPropertyDescriptor(e, "cause");
show(writable, enumerable, configurable, "cause" in new DOMException("m", { name: "X" }), "cause" in new DOMException("m", "X"));
show(new DOMException().name, new DOMException("m").code, new DOMException("m", {}).name, new DOMException("m", { cause: undefined }).cause);
show(String(e), Object.prototype.toString.call(e), e.stack.split("\n")[0], /main\.js:/.test(e.stack), /waitword:web\/dom_exception/.test(e.stack));
for (const bad of [() => DOMException("m"), () => new DOMException(Symbol()), () => new DOMException("m", Symbol()),
  () => new DOMException("m", { name: Symbol() }), () => DOMException.prototype.name, () => DOMException.prototype.code]) {
  try { show(bad()); } catch (error) { show(error.name); }
}
class Mine extends DOMException {}
show(new Mine("m", "DataCloneError").code, new Mine() instanceof Mine, DOMException.length);
for (const of of [DOMException, DOMException.prototype]) {
  const { value, writable, enumerable, configurable } = Object.getOwnPropertyDescriptor(of, "DATA_CLONE_ERR");
  show(value, writable, enumerable, configurable);
}
for (const call of [() => atob("!"), () => btoa("\u0100")]) {
  try { call(); } catch (error) { show(error.name, error.code, error instanceof DOMException, error instanceof Error); }
}
console.log(e);
