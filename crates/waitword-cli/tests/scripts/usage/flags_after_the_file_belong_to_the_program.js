//@ command: run --main-can-block main.js --timeout -x --help -- y
//> timed-out --timeout,-x,--help,--,y

const word = new Int32Array(new SharedArrayBuffer(4));
console.log(Atomics.wait(word, 0, 0, 0), process.argv.slice(2).join());
