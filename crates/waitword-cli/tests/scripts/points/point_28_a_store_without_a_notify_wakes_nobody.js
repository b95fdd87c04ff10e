//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { check, word } = require("./support/check.js");

(async () => {
  const stayAlive = setInterval(() => {}, 1_000);
  const array = word();
  const { value } = Atomics.waitAsync(array, 0, 0, 20);
  for (let round = 1; round < 1_000; round++) Atomics.store(array, 0, round);
  check("the value has changed", await value, "timed-out");
  const second = Atomics.waitAsync(array, 0, 999).value;
  Atomics.store(array, 0, 5);
  check("what it is now does not matter to the waiter", Atomics.notify(array, 0), 1);
  check("woken", await second, "ok");
  clearInterval(stayAlive);
})();
