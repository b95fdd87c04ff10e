// The host's to say; ours says so.
const { check, word } = require("./support/check.js");

Atomics.waitAsync(word(), 0, 0, 5).value.then((outcome) => check("alive", outcome, "timed-out"));
