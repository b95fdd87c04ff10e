// A gibibyte that is only made takes neither memory nor time, for whatever kind of buffer.
//@ memory: 200
//> [ true, true, true ] [ false, true, false ] true
//> SharedArrayBuffer,SharedArrayBuffer,SharedArrayBuffer true
//> [ 0, 0 ] [ 5, 5 ]

const { Worker } = require("worker_threads");
const GIB = 2 ** 30;
class Sub extends SharedArrayBuffer {}
const made = [new SharedArrayBuffer(GIB), new SharedArrayBuffer(0, { maxByteLength: GIB }), new Sub(GIB)];
made[1].grow(GIB);
console.log(made.map((each) => each.byteLength === GIB), made.map((each) => each.growable), made[2] instanceof Sub);
console.log(made.map((each) => Object.prototype.toString.call(each).slice(8, -1)).join(), made[0].maxByteLength === GIB);
const source = `const { parentPort, workerData: [fixed, growable] } = require("worker_threads");
  const words = [fixed, growable].map((each) => new Int32Array(each));
  parentPort.postMessage(words.map((each) => Atomics.add(each, each.length - 1, 5)));`;
new Worker(source, { eval: true, workerData: made }).on("message", (seen) => {
  console.log(seen, made.slice(0, 2).map((each) => new Int32Array(each).at(-1)));
  done();
});
