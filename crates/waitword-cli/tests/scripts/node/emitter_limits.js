// MaxListenersExceededWarning, of emitters and of targets.
//@ flags: --main-can-block
//@ stdout: as on Node

const EE = require("node:events");
const { MessageChannel } = require("node:worker_threads");
const w = [];
process.on("warning", (x) => w.push([x.name, x.message, x.type, x.count, x.emitter?.constructor?.name, x.target?.constructor?.name, Object.keys(x)]));
const e = new EE(); for (let i = 0; i < 14; i++) e.on("x", () => {});
for (let i = 0; i < 14; i++) e.once("y", () => {});
e.removeAllListeners("x"); for (let i = 0; i < 14; i++) e.prependListener("x", () => {});
{ const e = new EE(); const f = () => {}; for (let i = 0; i < 11; i++) e.on("z", f); for (let i = 0; i < 9; i++) e.off("z", f); for (let i = 0; i < 11; i++) e.on("z", f);}
{ const e = new EE(); const f = () => {}; for (let i = 0; i < 11; i++) e.on("zz", f); for (let i = 0; i < 10; i++) e.off("zz", f); for (let i = 0; i < 11; i++) e.on("zz", f);}
class My extends EE {}; { const e = new My(); e.setMaxListeners(1); e.on(Symbol("s"), () => {}); e.on("q", () => {}); e.on("q", () => {}); }
{ const e = new EE(); e.setMaxListeners(0); for (let i = 0; i < 14; i++) e.on("none", () => {}); }
{ const e = new EE(); const s = Symbol("sy"); for (let i = 0; i < 14; i++) e.on(s, () => {}); }
{ const e = new EventTarget(); for (let i = 0; i < 14; i++) e.addEventListener("et", () => {}); for (let i = 0; i < 14; i++) e.addEventListener("et2", () => {}); }
{ const e = new AbortController().signal; for (let i = 0; i < 14; i++) e.addEventListener("abort", () => {}); }
{ const { port1: e } = new MessageChannel(); for (let i = 0; i < 14; i++) e.on("close", () => {}); e.close(); }
setImmediate(() => { for (const x of w) console.log(x); });
