// Growable memory between the agents of a program: views that were there before see what others have grown, after each way that the
// host has to synchronize. All operations on views: `growth.rs` in the tests of `waitword-quickjs`. `t.length` is a sequentially
// consistent load in ECMA-262: a loop may wait for it.
//@ each GROWN: structuredClone(g).grow(32); show();
//@ each GROWN: const { port1, port2 } = new MessageChannel(); port1.postMessage(g); receiveMessageOnPort(port2).message.grow(32); show();
//@ each GROWN: grower("g.grow(32); Atomics.store(w, 0, 1);"); while (Atomics.load(w, 0) === 0); show();
//@ each GROWN: grower("g.grow(32); while (Atomics.notify(w, 0) === 0);"); Atomics.waitAsync(w, 0, 0).value.then(show);
//@ each GROWN: grower("g.grow(32); parentPort.postMessage(0);").on("message", show);
//@ each GROWN: const c = new BroadcastChannel("growth"); c.onmessage = () => (show(), c.close()); grower("const c = new BroadcastChannel('growth'); g.grow(32); c.postMessage(0); c.close();");
//@ each GROWN: const { port1, port2 } = new MessageChannel(); grower("parentPort.on('message', (port) => { g.grow(32); port.postMessage(0); parentPort.close(); });").postMessage(port2, [port2]); while (!receiveMessageOnPort(port1)); show(); port1.close();
//@ each GROWN: grower("g.grow(32)").on("exit", show);
//@ each GROWN: grower("g.grow(32)"); while (t.length === 4); show();
//> 8,0,8,true,24,32

const { Worker, receiveMessageOnPort } = require("node:worker_threads");
const g = new SharedArrayBuffer(16, { maxByteLength: 64 }), w = new Int32Array(new SharedArrayBuffer(16));
const t = new Int32Array(g), u = new Uint8Array(g, 8), d = new DataView(g);
const show = () => console.log([t.length, t[6], [...t].length, 7 in t, u.length, d.byteLength].join());
const grower = (then) => new Worker(`
  const { parentPort, workerData: { g, w } } = require("node:worker_threads");
  ${then}`, { eval: true, workerData: { g, w } });
GROWN
