// What arrives when it is sent to a worker and back.
//@ flags: --main-can-block
//@ stdout: as on Node

const { Worker, isMainThread, parentPort } = require("node:worker_threads");

if (!isMainThread) {
  parentPort.on("message", (message) => (message === "end" ? parentPort.close() : parentPort.postMessage(message)));
  return;
}
const worker = new Worker(__filename);
const echo = (value, transfer) => new Promise((resolve) => {
  worker.once("message", resolve);
  worker.postMessage(value, transfer);
});
(async () => {
  const cyclic = { name: "c" };
  cyclic.self = cyclic;
  const twice = {};
  const shared = new SharedArrayBuffer(8);
  for (const value of [
    undefined, null, true, -0, NaN, 1.5, "é\ud83d\ude00", 2n ** 70n, [1, , 3], { a: { b: {} } }, new Date(5), /a+/giu, new Map([[1, new Set([2])]]),
    new Uint8Array([1, 2, 3]).subarray(1), new BigInt64Array([1n, -1n]), new ArrayBuffer(3), Object("boxed"), Object(1),
  ]) console.log(await echo(value));
  const got = await echo({ cyclic, pair: [twice, twice] });
  console.log(got.cyclic.self === got.cyclic, got.pair[0] === got.pair[1], got.cyclic !== cyclic);
  const error = await echo(Object.assign(new RangeError("far", { cause: 1 }), { extra: 1 }));
  console.log(error instanceof RangeError, error.message, error.cause, "extra" in error);
  const view = await echo(new Int32Array(shared, 4));
  view[0] = 42;
  console.log(new Int32Array(shared)[1], view.byteOffset, view.buffer instanceof SharedArrayBuffer);
  class Point { x = 1; }
  const point = await echo(new Point());
  console.log(point.constructor === Object, point.x);
  const bytes = new Uint8Array([7, 8]);
  const moved = await echo(bytes, [bytes.buffer]);
  console.log(bytes.length, moved);
  for (const bad of [() => {}, Symbol("s"), { deep: [() => {}] }, new WeakMap(), Promise.resolve()]) {
    try {
      worker.postMessage(bad);
    } catch (error) {
      console.log(error.name, error.code);
    }
  }
  worker.on("exit", (code) => console.log("exit", code));
  worker.postMessage("end");
})();
