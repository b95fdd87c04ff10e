//@ flags: --observe
//> 0 1 2
//> 0 true 3
//> RangeError

Error.prepareStackTrace = () => { throw new Error("asked"); };
let coerced = 0;
const number = { valueOf() { coerced++; return 0; } };
const word = new Int32Array(new SharedArrayBuffer(4));
console.log(Atomics.compareExchange(word, number, number, 1), Atomics.add(word, 0, 2), coerced);
console.log(Atomics.notify(word, 0), Atomics.waitAsync(word, 0, 3, 1).async, Atomics.exchange(word, 0, 0));
try { Atomics.store(word, 7, 0); } catch (error) { console.log(error.name); }
