// console.table, groups and counts; the stack of an error as text.
//@ flags: --main-can-block
//@ stdout: as on Node

console.table([{ a: 1, b: "x" }, { a: 2, c: true }]);
console.table([[1, 2], [3, [4]]]);
console.table(new Map([["k", { v: 1 }]]));
console.table(new Set(["s"]));
console.table([{ a: 1, b: 2 }, 5], ["b"]);
console.table("no table");
console.group("outer");
console.groupCollapsed("inner");
console.dirxml({ a: 1 }, [1]);
console.groupEnd();
console.groupEnd();
console.count();
console.countReset();
console.count();
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
