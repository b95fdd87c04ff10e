// Growable memory: views that were there before see what others have grown, after everything that a script can
// synchronize by. Each program runs all operations on views. `t.length` is a sequentially consistent load in
// ECMA-262: a loop may wait for it.
//@ flags: --main-can-block
// Through another object of the same agent.
//@ each GROWN: g.grow(32); show();
//@ each GROWN: a.grow(32); show();
//@ each GROWN: Reflect.apply(a.grow, g, [32]); show();
//@ each GROWN: const { port1, port2 } = new MessageChannel(); port1.postMessage(g); receiveMessageOnPort(port2).message.grow(32); show();
// After an atomic access that synchronizes.
//@ each GROWN: begun(STORES); while (Atomics.load(w, 0) !== 1); show();
//@ each GROWN: begun(STORES); while (Atomics.add(w, 0, 0) !== 1); show();
//@ each GROWN: begun(STORES); while (Atomics.and(w, 0, -1) !== 1); show();
//@ each GROWN: begun(STORES); while (Atomics.compareExchange(w, 0, 1, 1) !== 1); show();
//@ each GROWN: begun(STORES); while (Atomics.exchange(w, 0, 0) !== 1); show();
//@ each GROWN: begun(STORES); while (Atomics.or(w, 0, 0) !== 1); show();
//@ each GROWN: begun(STORES); while (Atomics.sub(w, 0, 0) !== 1); show();
//@ each GROWN: begun(STORES); while (Atomics.xor(w, 0, 0) !== 1); show();
//@ each GROWN: begun(STORES); while (Atomics.load(w, { valueOf() { return 0; } }) !== 1); show();
//@ each GROWN: begun(STORES); while (Reflect.apply(Atomics.load, null, [w, 0]) !== 1); show();
// The grower does not synchronize with the reader; the agent that has seen the new length does.
//@ each GROWN: grower("while (g.byteLength !== 32); Atomics.store(w, 0, 1);"); begun("g.grow(32);"); while (Atomics.load(w, 0) === 0); show();
// After a wait, and after a notify that found a waiter, which has grown the memory before it waits.
//@ each GROWN: begun(STORES + "while (Atomics.notify(w, 0) === 0 && Atomics.load(w, 2) === 0);"); Atomics.wait(w, 0, 0); Atomics.store(w, 2, 1); show();
//@ each GROWN: begun(STORES); while (Atomics.wait(w, 0, 0, 0) !== "not-equal"); show();
//@ each GROWN: begun(STORES); while (Atomics.waitAsync(w, 0, 0, 0).value !== "not-equal"); show();
//@ each GROWN: begun("g.grow(32); Atomics.wait(w, 3, 0);"); while (Atomics.notify(w, 3) === 0); show();
//@ each GROWN: grower("g.grow(32); while (Atomics.notify(w, 0) === 0);"); Atomics.waitAsync(w, 0, 0).value.then(show);
// After a message.
//@ each GROWN: grower("g.grow(32); parentPort.postMessage(0);").on("message", show);
//@ each GROWN: const c = new BroadcastChannel("growth"); c.onmessage = () => (show(), c.close()); grower("const c = new BroadcastChannel('growth'); g.grow(32); c.postMessage(0); c.close();");
//@ each GROWN: const { port1, port2 } = new MessageChannel(); grower("parentPort.on('message', (port) => { g.grow(32); port.postMessage(0); parentPort.close(); });").postMessage(port2, [port2]); while (!receiveMessageOnPort(port1)); show(); port1.close();
//@ each GROWN: grower("g.grow(32)").on("exit", show);
// In a loop without synchronization.
//@ each GROWN: begun(GROWS); while (t.length === 4 && Date.now() < end); show();
//@ each GROWN: begun(GROWS); while (!(7 in t) && Date.now() < end); show();
//@ each GROWN: begun(GROWS); while (t[7] === undefined && Date.now() < end); show();
//@ each GROWN: begun(GROWS); while (d.byteLength === 16 && Date.now() < end); show();
//@ each GROWN: begun(GROWS); while ([...t].length === 4 && Date.now() < end); show();
// Among thousands of buffers, most of which are gone.
//@ each GROWN: const kept = []; for (let i = 0; i < 5000; i++) { const made = many(); if (i % 100 === 0) kept.push(new Int32Array(made)); } for (const view of kept) view.buffer.grow(16); a.grow(32); if (!kept.every((view) => view.length === 4)) throw new Error("a view is short"); show();
//> []

const { Worker, receiveMessageOnPort } = require("node:worker_threads");
const operations = require("./support/operations.js");
const g = new SharedArrayBuffer(16, { maxByteLength: 64 }), a = structuredClone(g);
const w = new Int32Array(new SharedArrayBuffer(16));
const t = new Int32Array(g), o = new Int32Array(g, 8), f = new Int32Array(g, 0, 4), b = new BigInt64Array(g);
const d = new DataView(g), e = new DataView(g, 16), u = new Uint8Array(g);
const h = new Float64Array(g), r = new Int16Array(a);
const sub = t.subarray(1), iterator = t.values();
const keys = (object) => { const all = []; for (const key in object) all.push(key); return all.join(); };
const thrown = (run) => { try { run(); return "none"; } catch (error) { return error.name; } };
// The operations with another result than on a grown buffer. Nothing in here looks at the memory but they.
const seen = () => {
  const wrong = [];
  for (const [operation, expected] of operations) {
    t.fill(0);
    let result;
    try { result = String(eval(operation)); } catch (error) { result = String(error); }
    if (result !== expected) wrong.push(`${operation} is ${result}, not ${expected}`);
  }
  return wrong;
};
const show = () => console.log(seen());
const many = () => new SharedArrayBuffer(8, { maxByteLength: 16 });
const end = Date.now() + 20_000;
const GROWS = "structuredClone(g).grow(32);", STORES = "g.grow(32); Atomics.store(w, 0, 1);";
const grower = (then) => new Worker(`
  const { parentPort, workerData: { g, w } } = require("node:worker_threads");
  ${then}`, { eval: true, workerData: { g, w } });
// Has a worker begin while this agent's script runs.
const begun = (then) => {
  grower(`while (Atomics.load(w, 1) === 0); ${then}`);
  if (t.length !== 4 || [...t].length !== 4 || d.byteLength !== 16) throw new Error("grown already");
  Atomics.store(w, 1, 1);
};
GROWN
