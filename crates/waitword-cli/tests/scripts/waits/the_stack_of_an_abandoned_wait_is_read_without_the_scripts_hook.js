// The host looks at the stack of a wait that it has to report. A hook that runs then would notify a wait that is given up.
//@ stderr has: Atomics.waitAsync on byte 0
//@ stderr has: main.js:3:

const words = new Int32Array(new SharedArrayBuffer(4));
Error.prepareStackTrace = () => { console.log("asked", Atomics.notify(words, 0)); return ""; };
Atomics.waitAsync(words, 0, 0).value.then((outcome) => console.log(outcome));
