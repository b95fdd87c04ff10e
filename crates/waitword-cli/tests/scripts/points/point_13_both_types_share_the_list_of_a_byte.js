//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { check } = require("./support/check.js");

(async () => {
  const buffer = new SharedArrayBuffer(32);
  const [i32, i64] = [new Int32Array(buffer), new BigInt64Array(buffer)];
  const log = [];
  const first = Atomics.waitAsync(i64, 2, 0n).value.then(() => log.push("BigInt64"));
  const second = Atomics.waitAsync(i32, 4, 0).value.then(() => log.push("Int32"));
  check("the high half", Atomics.notify(i32, 5), 0);
  check("by Int32", Atomics.notify(i32, 4, 1), 1);
  await first;
  check("the one that came first", log, ["BigInt64"]);
  check("by BigInt64", Atomics.notify(i64, 2), 1);
  await second;
  check("the one that came second", log, ["BigInt64", "Int32"]);
  Atomics.waitAsync(i32, 5, 0);
  check("the high half is no 64-bit word", Atomics.notify(i64, 2), 0);
  check("but a word", Atomics.notify(i32, 5), 1);
})();
