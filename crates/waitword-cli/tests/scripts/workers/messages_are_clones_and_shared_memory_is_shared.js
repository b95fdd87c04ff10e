//> true false 3 true 5
//> gi true true c
//> true true true 2 object
//> true true 42n

const { Worker, isMainThread, parentPort } = require("worker_threads");
if (isMainThread) {
  const shared = new SharedArrayBuffer(8);
  const sent = {
    list: [1, , 3], map: new Map([[{ k: 1 }, new Set(["s"])]]), date: new Date(5), re: /a/gi, big: 2n ** 70n,
    error: new TypeError("wrong", { cause: "c" }), nothing: undefined, zero: -0, text: "é\ud800",
    bytes: new Uint8Array([1, 2, 3]).subarray(1), shared, view: new BigInt64Array(shared), boxed: Object(1n),
  };
  sent.self = sent;
  const worker = new Worker(__filename);
  worker.postMessage(sent);
  worker.once("message", (got) => {
    console.log(got.self === got, 1 in got.list, got.list[2], [...got.map][0][1].has("s"), got.date.getTime());
    console.log(got.re.flags, got.big === 2n ** 70n, got.error instanceof TypeError, got.error.cause);
    console.log("nothing" in got, Object.is(got.zero, -0), got.text === sent.text, got.bytes[0], typeof got.boxed);
    console.log(got.view.buffer === got.shared, got.shared !== shared, sent.view[0]);
  });
} else {
  parentPort.once("message", (got) => {
    got.view[0] = 42n;
    parentPort.postMessage(got);
  });
}
