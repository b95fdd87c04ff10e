//> timed-out

const word = new Int32Array(new SharedArrayBuffer(4));
Atomics.waitAsync(word, 0, 0, 5).value.then((outcome) => console.log(outcome));
