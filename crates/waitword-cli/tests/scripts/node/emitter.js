// EventEmitter: order, once, and what is refused.
//@ flags: --main-can-block
//@ stdout: as on Node

const EventEmitter = require("node:events");
const t = (name, f) => { try { console.log(name, f()); } catch (e) { console.log(name, "!", e?.name, e?.code, e?.message); } };
// once that emits itself
{ const e = new EventEmitter(); let n = 0; e.once("x", function self() { n++; if (n < 5) e.emit("x"); }); e.emit("x"); console.log("once", n, e.listenerCount("x")); }
// once called twice in the same walk
{ const e = new EventEmitter(); let n = 0; let d = 0; e.on("x", () => { if (d++ === 0) e.emit("x", "in"); }); e.once("x", () => n++); e.emit("x"); console.log("once walk", n); }
// argument checks
for (const bad of [null, undefined, 1, "s", {}, true, Symbol("q")]) for (const m of ["on", "once", "addListener", "prependListener", "prependOnceListener", "off", "removeListener"]) t(m + " " + String(bad), () => new EventEmitter()[m]("x", bad));
// keys
const methods = "addListener on emit eventNames listeners off once prependListener prependOnceListener removeAllListeners removeListener";
for (const name of methods.split(" ")) t(name, () => [EventEmitter.prototype[name].name, EventEmitter.prototype[name].length]);
t("alias", () => [EventEmitter.prototype.on === EventEmitter.prototype.addListener, EventEmitter.prototype.off === EventEmitter.prototype.removeListener, EventEmitter.EventEmitter === EventEmitter]);
t("nolistener off", () => new EventEmitter().off("x", () => {}) instanceof EventEmitter);
{ const e = new EventEmitter(); const f = () => {}; e.on("x", f); e.on("x", f); e.once("x", f); t("count", () => [e.listenerCount("x"), e.listenerCount("y")]); }
{ const e = new EventEmitter(); e.foo = 1; t("emit error args", () => e.emit("error", { a: 1 })); t("emit error null", () => e.emit("error", null)); t("emit error none", () => e.emit("error")); t("emit error s", () => e.emit("error", Symbol("z"))); }
{ const e = new EventEmitter(); const log = []; const a = () => { log.push("a"); e.off("x", b); }; const b = () => log.push("b"); e.on("x", a); e.on("x", b); e.emit("x"); e.emit("x"); console.log("remove in walk", log); }
{ const e = new EventEmitter(); const s = Symbol("ev"); e.on(s, () => {}); e.on(1, () => {}); e.on("b", () => {}); console.log("names", e.eventNames()); }
{ const e = new EventEmitter(); e.on(1, () => console.log("one")); console.log("num", e.emit("1"), e.listenerCount("1"), e.listenerCount(1)); e.on(undefined, () => {}); e.on(null, () => {}); console.log(e.eventNames(), e.emit()); }
