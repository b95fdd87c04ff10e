//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { check, pause, word } = require("./support/check.js");

(async () => {
  const array = word();
  const log = [];
  const settled = Atomics.waitAsync(array, 0, 0, 5).value.then((outcome) => log.push(outcome));
  check("notified in time", Atomics.notify(array, 0), 1);
  const start = performance.now();
  while (performance.now() - start < 8);
  await settled;
  await pause(8);
  check("settled once", log, ["ok"]);
})();
