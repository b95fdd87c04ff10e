// Waits beyond the limit are a range error and those within it stay.
//@ flags: --max-waits 2
//@ code: 1
//@ stderr has: RangeError: too many pending waits: the agent's limit is 2
//@ stderr has: help: the limit is set by --max-waits

const word = new Int32Array(new SharedArrayBuffer(4)); for (;;) Atomics.waitAsync(word, 0, 0);
