//@ stderr has: main: Atomics.waitAsync on byte 4 of SharedArrayBuffer 1
//@ stderr has: main.js:2:
//> exit 0

const words = new Int32Array(new SharedArrayBuffer(8));
Atomics.waitAsync(words, 1, 0).value.then(() => console.log("never"));
process.on("exit", (code) => console.log("exit", code));
