// Waits beyond the limit are a range error and those within it stay.
//@ flags: --max-waits 2
//@ code: 1
//@ stderr has: RangeError: 2 waits of this agent are pending
//@ stderr has: help: the limit is that of --max-waits

const word = new Int32Array(new SharedArrayBuffer(4)); for (;;) Atomics.waitAsync(word, 0, 0);
