//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { check, word } = require("./support/check.js");

(async () => {
  const stayAlive = setInterval(() => {}, 1_000);
  const { value } = Atomics.waitAsync(new Int32Array(new SharedArrayBuffer(1 << 16)), 0, 0, 10);
  let garbage = [];
  for (let round = 0; round < 2_000; round++) garbage = [garbage.length, new ArrayBuffer(1 << 12)];
  check("settled", await value, "timed-out");
  // A host may let go of waits that nothing can end any more, once there are many. These are not among them.
  const crowd = [];
  for (let waiter = 0; waiter < 3_000; waiter++) crowd.push(Atomics.waitAsync(word(), 0, 0, 10).value);
  const outcomes = await Promise.all(crowd);
  check("all of a crowd", outcomes.filter((outcome) => outcome === "timed-out").length, 3_000);
  clearInterval(stayAlive);
})();
