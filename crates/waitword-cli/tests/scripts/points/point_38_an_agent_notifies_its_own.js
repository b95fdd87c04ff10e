//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { check, word } = require("./support/check.js");

(async () => {
  const array = word();
  const waits = [1, 2, 3].map(() => Atomics.waitAsync(array, 0, 0).value);
  check("counted", [Atomics.notify(array, 0, 2), Atomics.notify(array, 0), Atomics.notify(array, 0)], [2, 1, 0]);
  check("settled", await Promise.all(waits), ["ok", "ok", "ok"]);
})();
