//@ flags: --main-can-block
//@ code: 1
//@ stderr has: deadlock
//@ stderr has: main: Atomics.wait on byte 0
//@ stderr has: main.js:1:

Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
