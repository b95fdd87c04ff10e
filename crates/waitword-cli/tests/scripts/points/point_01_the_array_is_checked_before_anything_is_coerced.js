// ValidateTypedArray is the first step of all three.
//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { check, run, poisoned } = require("./support/check.js");

const detached = () => {
  const view = new Int32Array(new ArrayBuffer(8));
  structuredClone(view.buffer, { transfer: [view.buffer] });
  return view;
};
const outOfBounds = () => {
  const buffer = new ArrayBuffer(8, { maxByteLength: 8 });
  const view = new Int32Array(buffer, 4, 1);
  buffer.resize(4);
  return view;
};
const wrong = {
  undefined, null: null, number: 0, string: "x", object: {}, array: [], buffer: new SharedArrayBuffer(8),
  DataView: new DataView(new SharedArrayBuffer(8)), heir: Object.create(new Int32Array(new SharedArrayBuffer(8))),
  proxy: new Proxy(new Int32Array(new SharedArrayBuffer(8)), {}), detached: detached(), "out of bounds": outOfBounds(),
};
for (const [name, value] of Object.entries(wrong)) {
  check(`wait on ${name}`, run(() => Atomics.wait(value, poisoned("i"), 0, 0)), "TypeError");
  check(`waitAsync on ${name}`, run(() => Atomics.waitAsync(value, poisoned("i"), 0, 0)), "TypeError");
  check(`notify on ${name}`, run(() => Atomics.notify(value, poisoned("i"), poisoned("c"))), "TypeError");
}
