// What a call may be given and what a string may have: `Function.prototype.apply`, `Reflect.apply` and `Reflect.construct` by ECMA-262,
// and lengths as in V8.
//@ two realms
var count = (...all) => all.length;
var tried = (run) => { try { return run(); } catch ({ name }) { return name; } };
// What each of the three makes of a list: how many arguments there are, or the name of an error.
var counts = (make) => [() => count.apply(null, make()), () => Reflect.apply(count, null, make()),
  () => Reflect.construct(class { constructor(...all) { this.length = all.length; } }, make()).length].map(tried).join();
var lengths = [2 ** 32 + 1, 2 ** 32 + 3, 2 ** 33, 2 ** 53, Infinity, 65536, -(2 ** 32) + 3, 3.9, "2"];
var all = (make) => lengths.map((length) => counts(() => make(length))).join(" ");
var alike = (length) => ({ length, 0: 7 });
var log = [], arrow = () => {};
var name = (run) => { try { run(); log.push("-"); } catch (error) { log.push(error.name); } };
var most = 2 ** 29 - 24, ran = [];

//# the length of a list does not wrap
all(alike) //> RangeError,RangeError,RangeError RangeError,RangeError,RangeError RangeError,RangeError,RangeError RangeError,RangeError,RangeError RangeError,RangeError,RangeError RangeError,RangeError,RangeError 0,0,0 3,3,3 2,2,2
[(length) => new Proxy(alike(length), {}), (length) => (function () { arguments.length = length; return arguments; })(1, 2, 3),
  (length) => Object.defineProperty(new Uint8Array(3), "length", { value: length })].map((make) => all(make) === all(alike)) //> true,true,true
counts(() => new Array(2 ** 32 - 1)) //> RangeError,RangeError,RangeError
counts(() => Array(65)) //> 65,65,65

//# a list is read once and after the checks of what is called
var list = new Proxy({ length: 2, 0: "a", 1: "b" }, {
  get: (target, key) => (log.push(key), target[key]), has: () => log.push("has"), ownKeys: () => log.push("keys") });
name(() => arrow.apply(null, list));
name(() => Reflect.apply(arrow, null, list));
name(() => Reflect.construct(Array, list));
log.join(" ") //> length 0 1 - length 0 1 - length 0 1 -
var list = new Proxy({}, { get: (target, key) => log.push(key), has: () => log.push("has"), ownKeys: () => log.push("keys") });
for (const what of [1, {}]) {
  name(() => Function.prototype.apply.call(what, null, list));
  name(() => Reflect.apply(what, null, list));
  name(() => Reflect.construct(what, list));
  name(() => Reflect.construct(Array, list, what));
}
name(() => Reflect.construct(arrow, list));
log.join(" ") //> TypeError TypeError TypeError TypeError TypeError TypeError TypeError TypeError TypeError
// Only `apply` takes undefined for no arguments.
for (const what of [undefined, 1, "text"]) {
  name(() => arrow.apply(null, what));
  name(() => Reflect.apply(arrow, null, what));
  name(() => Reflect.construct(Array, what));
}
log.join(" ") //> - TypeError TypeError TypeError TypeError TypeError TypeError TypeError TypeError

//# they are built in functions like the engines
var shown = (object, name) => {
  const { value, ...attributes } = Object.getOwnPropertyDescriptor(object, name);
  let isConstructor = true;
  try { new value(); } catch { isConstructor = false; }
  const { name: own, length } = value;
  return [own, length, isConstructor, "prototype" in value, ...Object.values(attributes)].join();
};
[shown(Function.prototype, "apply"), shown(Reflect, "apply"), shown(Reflect, "construct")].join(" ") //> apply,2,false,false,true,false,true apply,3,false,false,true,false,true construct,2,false,false,true,false,true

//# strings longer than those of V8 are a RangeError at once
// As in V8: before the engine fills them, for seconds in which nothing interrupts it.
"a".repeat(most + 1) //> RangeError
try { "a".repeat(most + 1) } catch (error) { String(error) } //> RangeError: Invalid string length
[() => "abc".repeat(most / 3 + 1), () => "a".padEnd(most + 1), () => "a".padStart(most + 1.5, "bc"), () => "a".padEnd(Infinity),
  () => new Array(1e9).join("x"), () => new Array(most + 2).join(), () => new Array(most / 8).join("a".repeat(9))]
  .map((run) => { try { return run().length; } catch (error) { return String(error); } })
  .every((error) => error === "RangeError: Invalid string length") //> true
try { "a".repeat(-1) } catch (error) { String(error) } //> RangeError: invalid repeat count
["".repeat(2 ** 30), "a".padEnd(most + 1, ""), [1, 2].join("a".repeat(9)), new Array(1e5).join("")].map(({ length }) => length) //> 0,1,11,0
[[, { toString: () => ran.push("ran") }].join("-"), "a".repeat({ valueOf: () => ran.push("ran") }), "a".padEnd("3")].map(({ length }) => length) //> 2,2,3
"a".padEnd({ valueOf: () => ran.push("ran") }); ran.length //> 1
