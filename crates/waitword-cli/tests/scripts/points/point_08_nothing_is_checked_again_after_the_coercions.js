// Shared memory does not shrink, and may grow in the middle.
//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { check, run } = require("./support/check.js");

for (const name of ["wait", "waitAsync"]) {
  const buffer = new SharedArrayBuffer(4, { maxByteLength: 32 });
  const tracking = new Int32Array(buffer);
  let length = 4;
  const grows = (value) => ({ valueOf: () => (buffer.grow((length += 4)), value) });
  const call = (index, value) =>
    run(() => {
      const result = Atomics[name](tracking, grows(index), grows(value), grows(0));
      return result.value ?? result;
    });
  check(`${name}, grown by each argument`, call(0, 0), "timed-out");
  check(`${name}, not equal`, call(0, 1), "not-equal");
  check("the memory", buffer.byteLength, 28);
}
