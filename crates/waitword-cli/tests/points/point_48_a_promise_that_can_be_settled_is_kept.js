const { check, pause, word } = require("./support/check.js");

(async () => {
  const array = word();
  const log = [];
  for (let waiter = 0; waiter < 100; waiter++) Atomics.waitAsync(array, 0, 0).value.then((outcome) => log.push(outcome));
  let garbage = [];
  for (let round = 0; round < 2_000; round++) garbage = [garbage.length, new ArrayBuffer(1 << 12)];
  await pause();
  check("queued", Atomics.notify(array, 0), 100);
  while (log.length < 100) await pause();
  check("settled", log.filter((outcome) => outcome === "ok").length, 100);
})();
