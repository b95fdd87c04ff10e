//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { check, run, word } = require("./support/check.js");

for (const [name, length] of [["wait", 4], ["waitAsync", 4], ["notify", 3]]) {
  const own = Object.getOwnPropertyDescriptor(Atomics, name);
  check(`${name} on Atomics`, [own.writable, own.enumerable, own.configurable], [true, false, true]);
  const { value: call } = own;
  for (const [key, value] of [["length", length], ["name", name]]) {
    check(`${name}.${key}`, Object.getOwnPropertyDescriptor(call, key), { value, writable: false, enumerable: false, configurable: true });
  }
  check(`${name}: own keys`, Reflect.ownKeys(call), ["length", "name"]);
  check(`new ${name}`, run(() => new call(word(), 0)), "TypeError");
  check(`${name} as a superclass`, run(() => Reflect.construct(Object, [], call)), "TypeError");
  check(`${name}: this does not matter`, run(() => call.call(undefined, word(), 0, 1).value ?? "value"), name === "waitAsync" ? "not-equal" : "value");
}
