//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { check, word } = require("./support/check.js");

(async () => {
  const stayAlive = setInterval(() => {}, 1_000);
  const array = word();
  let [log, waits, start] = [];
  // Again, if the thread lost its CPU between two of them: their deadlines would have another order.
  do {
    Atomics.notify(array, 0);
    const mine = (log = []);
    start = performance.now();
    waits = [9, 3, 6].map((timeout) => Atomics.waitAsync(array, 0, 0, timeout).value.then((outcome) => mine.push(`${timeout} ${outcome}`)));
  } while (performance.now() - start > 2);
  while (performance.now() - start < 12);
  Promise.resolve().then(() => log.push("microtask"));
  // A script that is running cannot see that time has passed.
  check("still queued", log, []);
  await Promise.all(waits);
  check("in the order of the deadlines", log, ["microtask", "3 timed-out", "6 timed-out", "9 timed-out"]);
  check("and they have left", Atomics.notify(array, 0), 0);
  clearInterval(stayAlive);
})();
