//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { check, word } = require("./support/check.js");

const array = word();
check("wait", Atomics.wait(array, 0, 0, 0), "timed-out");
check("and has left", Atomics.notify(array, 0), 0);
