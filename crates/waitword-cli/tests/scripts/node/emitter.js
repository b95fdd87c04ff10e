// EventEmitter: order, once, newListener and removeListener, raw listeners, and what is refused.
//@ flags: --main-can-block
//@ stdout: as on Node

const EventEmitter = require("node:events");
const t = (name, f) => { try { console.log(name, f()); } catch (e) { console.log(name, "!", e?.name, e?.code, e?.message); } };
// once that emits itself
{ const e = new EventEmitter(); let n = 0; e.once("x", function self() { n++; if (n < 5) e.emit("x"); }); e.emit("x"); console.log("once", n, e.listenerCount("x")); }
{ const e = new EventEmitter(); const log = []; e.on("removeListener", (n) => log.push("removed", n, n2)); let n2 = 0; e.once("x", () => { n2++; log.push("called"); e.emit("x"); }); e.emit("x"); console.log("once rl", log); }
// once called twice in the same walk
{ const e = new EventEmitter(); let n = 0; let d = 0; e.on("x", () => { if (d++ === 0) e.emit("x", "in"); }); e.once("x", () => n++); e.emit("x"); console.log("once walk", n); }
// newListener in newListener
{ const e = new EventEmitter(); const log = []; e.once("newListener", (name, l) => { log.push(name); e.on(name, () => log.push("B")); }); e.on("x", () => log.push("A")); e.emit("x"); console.log("nl", log); }
{ const e = new EventEmitter(); const log = []; e.on("newListener", (name) => { log.push("1" + name); if (name === "x") e.on("newListener", (n2) => log.push("2" + n2)); }); e.on("x", () => {}); e.on("y", () => {}); console.log("nl nl", log, e.listenerCount("newListener")); }
{ const e = new EventEmitter(); const log = []; e.once("newListener", (name) => { log.push(name); e.once("newListener", (n) => log.push("second", n)); }); e.on("x", () => {}); e.on("y", () => {}); console.log("nl once", log); }
{ const e = new EventEmitter(); const f = () => {}; let args; e.on("newListener", (...a) => args = a); e.once("x", f); console.log("nl listener", args[0], args[1] === f); e.on("removeListener", (...a) => args = a); e.off("x", f); console.log("rl listener", args[0], args[1] === f); e.once("x", f); e.removeAllListeners("x"); console.log("rl all", args[0], args[1] === f, typeof args[1], args[1].name, args[1].listener === f); }
// rawListeners
{ const e = new EventEmitter(); const f = () => console.log("f called"); e.once("x", f); e.on("x", f); const raw = e.rawListeners("x"); console.log("raw", raw.length, raw[0] === f, raw[0].listener === f, raw[1] === f, typeof raw[1].listener); raw[0].listener(); console.log(e.listenerCount("x")); raw[0](); console.log(e.listenerCount("x")); console.log("raw fresh", e.rawListeners("x") !== e.rawListeners("x"), e.listeners("x")[0] === f); }
{ const e = new EventEmitter(); const f = function (...a) { return [this === e, a]; }; e.once("x", f); const r = e.rawListeners("x")[0]; console.log("raw call", r(1, 2), r(3), r.name, r.length); e.once("x", f); const r2 = e.rawListeners("x")[0]; e.emit("x"); console.log("raw after", r2(1)); e.once("x", f); e.off("x", e.rawListeners("x")[0]); console.log(e.listenerCount("x")); }
// argument checks
for (const bad of [null, undefined, 1, "s", {}, true, Symbol("q")]) for (const m of ["on", "once", "addListener", "prependListener", "prependOnceListener", "off", "removeListener"]) t(m + " " + String(bad), () => new EventEmitter()[m]("x", bad));
for (const bad of [-1, NaN, "1", null, undefined, {}, 1n, 1.5, Infinity, 0]) { t("setMax " + String(bad), () => new EventEmitter().setMaxListeners(bad).getMaxListeners()); t("default " + String(bad), () => { EventEmitter.defaultMaxListeners = bad; return EventEmitter.defaultMaxListeners; }); EventEmitter.defaultMaxListeners = 10; }
for (const bad of [1, "x", null, {}, [], 0, true]) t("capture " + String(bad), () => new EventEmitter({ captureRejections: bad }) instanceof EventEmitter);
// keys
const methods = "addListener on emit eventNames getMaxListeners listenerCount listeners off once prependListener prependOnceListener rawListeners removeAllListeners removeListener setMaxListeners";
for (const name of methods.split(" ")) t(name, () => [EventEmitter.prototype[name].name, EventEmitter.prototype[name].length]);
t("alias", () => [EventEmitter.prototype.on === EventEmitter.prototype.addListener, EventEmitter.prototype.off === EventEmitter.prototype.removeListener, EventEmitter.EventEmitter === EventEmitter]);
t("nolistener off", () => new EventEmitter().off("x", () => {}) instanceof EventEmitter);
{ const e = new EventEmitter(); const f = () => {}; const g = () => {}; e.on("x", f); e.on("x", f); e.once("x", f); e.on("x", g); t("count fn", () => [e.listenerCount("x"), e.listenerCount("x", f), e.listenerCount("x", g), e.listenerCount("y", f), e.listenerCount("x", () => {})]); t("static", () => EventEmitter.listenerCount(e, "x")); }
{ const e = new EventEmitter(); e.foo = 1; t("emit error args", () => e.emit("error", { a: 1 })); t("emit error null", () => e.emit("error", null)); t("emit error none", () => e.emit("error")); t("emit error s", () => e.emit("error", Symbol("z"))); }
{ const e = new EventEmitter(); const log = []; const a = () => { log.push("a"); e.off("x", b); }; const b = () => log.push("b"); e.on("x", a); e.on("x", b); e.emit("x"); e.emit("x"); console.log("remove in walk", log); }
{ const e = new EventEmitter(); const s = Symbol("ev"); e.on(s, () => {}); e.on(1, () => {}); e.on("b", () => {}); console.log("names", e.eventNames()); }
{ const e = new EventEmitter(); e.on(1, () => console.log("one")); console.log("num", e.emit("1"), e.listenerCount("1"), e.listenerCount(1)); e.on(undefined, () => {}); e.on(null, () => {}); console.log(e.eventNames(), e.emit()); }
{ const e = new EventEmitter(); const r = []; e.on("removeListener", (n, f) => r.push([n, f.name])); e.on("a", function a1() {}); e.on("a", function a2() {}); e.on("b", function b1() {}); e.removeAllListeners(); console.log("order", r, e.eventNames()); }
{ const e = new EventEmitter(); const r = []; e.on("removeListener", (n, f) => r.push([n, f.name])); e.on("a", function a1() {}); e.on("a", function a2() {}); e.removeAllListeners("a"); console.log("order a", r, e.eventNames()); }
