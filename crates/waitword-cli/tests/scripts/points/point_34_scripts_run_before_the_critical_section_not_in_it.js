// Conversions that wait on and notify the same word.
//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { check, word } = require("./support/check.js");

const array = word();
const meddles = (value) => ({
  valueOf() {
    Atomics.waitAsync(array, 0, 0);
    Atomics.notify(array, 0, 1);
    Atomics.wait(array, 0, 0, 0);
    return value;
  },
});
check("notify", Atomics.notify(array, meddles(0), meddles(1)), 0);
check("wait", Atomics.wait(array, meddles(0), meddles(0), meddles(0)), "timed-out");
check("waitAsync", Atomics.waitAsync(array, meddles(0), meddles(0), meddles(1e6)).async, true);
check("it alone is queued", Atomics.notify(array, 0), 1);
