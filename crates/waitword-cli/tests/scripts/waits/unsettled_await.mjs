// A module that awaits for ever exits with 13.
//@ code: 13
//@ stderr has: main.mjs:1:
//@ stderr has: the main module still awaits

await Atomics.waitAsync(new Int32Array(new SharedArrayBuffer(4)), 0, 0).value;
