// Scripts share the realm with the host's JavaScript, and may overwrite what it is written with.
//@ each PATCH: for (const C of [Array, Map, Set, WeakMap, Promise, String, Number, RegExp, Function]) for (const key of getOwnPropertyNames(C.prototype)) try { Object.defineProperty(C.prototype, key, { value: boom }); } catch {}
//@ each PATCH: Array.prototype[Symbol.iterator] = Map.prototype[Symbol.iterator] = boom
//@ each PATCH: Object.getPrototypeOf([][Symbol.iterator]()).next = boom
//@ each PATCH: for (const C of [Object, Array, Reflect, JSON, Math, Error]) for (const key of getOwnPropertyNames(C)) if (typeof C[key] === 'function') C[key] = boom
//@ each PATCH: for (const key of getOwnPropertyNames(globalThis)) if (!['setTimeout', 'globalThis', 'key'].includes(key)) delete globalThis[key]
//@ each PATCH: for (let at = 0; at < 4; at++) Object.defineProperty(Array.prototype, at, { get: boom, set: boom, configurable: true })
//@ each PATCH: for (const key of ['get', 'set', 'value', 'list', 'map', 'then', 'transfer', 'eval']) Object.defineProperty(Object.prototype, key, { __proto__: null, get: () => undefined, set: boom })
//> timer
//> got 12371
//> end
//> exit 0

const { Worker } = require("worker_threads");
const { getOwnPropertyNames } = Object;
const worker = new Worker(__dirname + "/worker.js");
const payload = { list: [1, [2, { deep: 3 }]], map: new Map([[1, 2]]), set: new Set(["x"]), named: Object.assign([7], { name: 1 }) };
const { log } = console;
const show = ({ list, named }) => "got " + list[0] + list[1][0] + list[1][1].deep + named[0] + named.name;
worker.on("message", (message) => log(message === "end" ? message : show(message)));
worker.once("exit", (code) => log("exit " + code));
const boom = () => { throw new Error("patched"); };
PATCH;
setTimeout((word) => {
    log(word);
    worker.postMessage(payload);
    worker.postMessage("end");
}, 1, "timer");
//@ file: worker.js
const { parentPort } = require("worker_threads");
parentPort.on("message", (message) => {
    parentPort.postMessage(message);
    if (message === "end") parentPort.close();
});
