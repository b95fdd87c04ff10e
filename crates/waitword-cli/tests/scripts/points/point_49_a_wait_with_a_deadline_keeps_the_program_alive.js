// The host's to say; ours says so.
//@ flags: --main-can-block
//@ stdout: checks
//@ node: same
// On Node: Node does not wait for promises of waitAsync, with a deadline or without.
//@ node differs: alive

const { check, word } = require("./support/check.js");

Atomics.waitAsync(word(), 0, 0, 5).value.then((outcome) => check("alive", outcome, "timed-out"));
