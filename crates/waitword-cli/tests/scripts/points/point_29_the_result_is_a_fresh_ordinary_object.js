//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { check, word } = require("./support/check.js");

const array = word();
const results = {
  pending: Atomics.waitAsync(array, 0, 0),
  "not equal": Atomics.waitAsync(array, 0, 1),
  "timed out": Atomics.waitAsync(array, 0, 0, 0),
};
for (const [name, result] of Object.entries(results)) {
  check(`${name}: prototype`, Object.getPrototypeOf(result) === Object.prototype, true);
  check(`${name}: keys`, Reflect.ownKeys(result), ["async", "value"]);
  const attributes = Object.values(Object.getOwnPropertyDescriptors(result)).map((each) => [each.writable, each.enumerable, each.configurable]);
  check(`${name}: attributes`, attributes, [[true, true, true], [true, true, true]]);
  check(`${name}: extensible`, Object.isExtensible(result), true);
}
check("fresh", Atomics.waitAsync(array, 0, 1) !== Atomics.waitAsync(array, 0, 1), true);
Object.defineProperty(Object.prototype, "async", { set() { throw new Error("a setter of the prototype ran"); }, configurable: true });
const defined = Atomics.waitAsync(array, 0, 1);
delete Object.prototype.async;
check("made by definition", defined, { async: false, value: "not-equal" });
Atomics.notify(array, 0);
