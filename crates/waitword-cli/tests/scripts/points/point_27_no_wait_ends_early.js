// The timeout is an amount of time that has to pass; more may.
//@ flags: --main-can-block
//@ stdout: checks
//@ node: same
// On Node: V8's promises may time out up to a millisecond early.
//@ node differs: early promises

const { check, word } = require("./support/check.js");

(async () => {
  const array = word();
  const early = { wait: 0, waitAsync: 0 };
  const stayAlive = setInterval(() => {}, 1_000);
  for (let timeout = 0.3; timeout < 8; timeout += 0.7) {
    let start = performance.now();
    Atomics.wait(array, 0, 0, timeout);
    if (performance.now() - start < timeout) early.wait++;
    start = performance.now();
    await Atomics.waitAsync(array, 0, 0, timeout).value;
    if (performance.now() - start < timeout) early.waitAsync++;
  }
  clearInterval(stayAlive);
  check("early waits", early.wait, 0);
  check("early promises", early.waitAsync, 0);
})();
