//@ flags: --main-can-block
//@ stdout: checks
//@ node: same
// On Node: V8 takes a timeout below a nanosecond for none.
//@ node differs: for 5e-324 ms
//@ node differs: for 1e-300 ms
//@ node differs: for 1e-7 ms

const { check, word } = require("./support/check.js");

(async () => {
  const stayAlive = setInterval(() => {}, 1_000);
  for (const timeout of [5e-324, 1e-300, 1e-7, 1e-6, 0.5, 1]) {
    const result = Atomics.waitAsync(word(), 0, 0, timeout);
    check(`for ${timeout} ms`, [result.async, result.value instanceof Promise, await result.value], [true, true, "timed-out"]);
  }
  clearInterval(stayAlive);
})();
