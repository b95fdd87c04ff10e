// Whatever scripts have done to Promise, and whatever a string and the result inherit.
//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { check, pause, word } = require("./support/check.js");

(async () => {
  const array = word();
  const log = [];
  const [Intrinsic, then] = [Promise, Promise.prototype.then];
  const patched = (name) => ({ configurable: true, get: () => (log.push(name), undefined) });
  globalThis.Promise = function () { log.push("Promise"); };
  Intrinsic.prototype.then = () => log.push("then");
  Object.defineProperty(Intrinsic, Symbol.species, patched("species"));
  Object.defineProperty(String.prototype, "then", patched("String.prototype.then"));
  Object.defineProperty(Object.prototype, "then", patched("Object.prototype.then"));
  Object.defineProperty(Intrinsic.prototype, "constructor", patched("constructor"));
  const setter = () => ({ __proto__: null, configurable: true, set: () => log.push("setter") });
  for (const name of ["async", "value"]) Object.defineProperty(Object.prototype, name, setter());
  const { value } = Atomics.waitAsync(array, 0, 0);
  Atomics.notify(array, 0);
  delete Object.prototype.async;
  delete Object.prototype.value;
  Object.defineProperty(Intrinsic.prototype, "constructor", { value: Intrinsic, writable: true });
  globalThis.Promise = Intrinsic;
  Intrinsic.prototype.then = then;
  delete String.prototype.then;
  delete Object.prototype.then;
  delete Intrinsic[Symbol.species];
  check("nothing of the script's was used", log, []);
  check("an intrinsic promise", Object.getPrototypeOf(value) === Intrinsic.prototype, true);
  check("it resolves", await value, "ok");
  await pause();
})();
