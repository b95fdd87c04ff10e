//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { check, pause, word } = require("./support/check.js");

(async () => {
  const array = word();
  let woken = 0;
  const wait = () => Atomics.waitAsync(array, 0, 0).value.then(() => (woken++, wait()));
  for (let waiter = 0; waiter < 3; waiter++) wait();
  for (let round = 1; round <= 3; round++) {
    check("the waiters that were there", Atomics.notify(array, 0), 3);
    while (woken < 3 * round) await pause();
    await pause(5);
    check("and they only", woken, 3 * round);
  }
  process.exit();
})();
