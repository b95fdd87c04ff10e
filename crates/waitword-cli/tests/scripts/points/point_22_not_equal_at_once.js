//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { check, word } = require("./support/check.js");

const array = word();
for (const timeout of [undefined, Infinity, 60_000, 0, -1]) check(`for ${timeout}`, Atomics.wait(array, 0, 1, timeout), "not-equal");
