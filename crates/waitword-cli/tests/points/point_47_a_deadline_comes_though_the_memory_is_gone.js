const { check } = require("./support/check.js");

(async () => {
  const stayAlive = setInterval(() => {}, 1_000);
  const { value } = Atomics.waitAsync(new Int32Array(new SharedArrayBuffer(1 << 16)), 0, 0, 10);
  let garbage = [];
  for (let round = 0; round < 2_000; round++) garbage = [garbage.length, new ArrayBuffer(1 << 12)];
  check("settled", await value, "timed-out");
  clearInterval(stayAlive);
})();
