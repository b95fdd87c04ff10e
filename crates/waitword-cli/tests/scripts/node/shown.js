// The stack of an error as text, classes and functions, callbacks that are none, process.stdout.
//@ flags: --main-can-block
//@ stdout: as on Node

const error = new RangeError("shown");
console.log(error.stack.split("\n")[0], error.stack.split("\n").length > 1);
console.log(class A {}, class extends Map {}, async () => {}, function* g() {}, new WeakMap(), new WeakSet());
for (const callback of [undefined, "code", 1, {}, Symbol("s")]) {
  try {
    setTimeout(callback);
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
console.log(process.stdout.write("written\n", () => console.log("called back")), process.stdout.fd, global === globalThis, String(process));
process.stdout.write(new Uint8Array([104, 105, 10]));
