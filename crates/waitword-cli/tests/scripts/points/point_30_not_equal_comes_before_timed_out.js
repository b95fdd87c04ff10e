//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { check, word } = require("./support/check.js");

const array = word();
check("not equal", Atomics.waitAsync(array, 0, 1), { async: false, value: "not-equal" });
check("not equal, no time", Atomics.waitAsync(array, 0, 1, 0), { async: false, value: "not-equal" });
check("equal, no time", Atomics.waitAsync(array, 0, 0, 0), { async: false, value: "timed-out" });
check("nobody was queued", Atomics.notify(array, 0), 0);
