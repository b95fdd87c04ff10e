// captureRejections, and the functions of node:events.
//@ flags: --main-can-block
//@ stdout: as on Node

const EE = require("node:events");
process.on("unhandledRejection", (r) => console.log("unhandled", r?.message ?? r));
const { captureRejectionSymbol, errorMonitor } = EE;
// What listeners reject with is reported in the ticks after it.
const turn = () => new Promise(setImmediate);
(async () => {
{ const e = new EE({ captureRejections: true }); e.on("x", async (v) => { throw new Error("a" + v); }); e.on("error", (er) => console.log("error", er.message)); e.emit("x", 1); }
await turn();
{ const e = new EE(); e.on("x", async (v) => { throw new Error("b" + v); }); e.on("error", (er) => console.log("error", er.message)); e.emit("x", 1); }
await turn();
{ const e = new EE({ captureRejections: true }); e[captureRejectionSymbol] = (er, name, ...args) => console.log("handler", er.message, name, args); e.on("x", async (v) => { throw new Error("c" + v); }); e.emit("x", 1, 2); }
await turn();
{ const e = new EE({ captureRejections: true }); e.on("x", (v) => ({ get then() { throw new Error("getter"); } })); e.on("error", (er) => console.log("error", er.message)); e.emit("x", 1, 2); }
{ const e = new EE({ captureRejections: true }); e.on("x", (v) => ({ then(a, b) { console.log(a, typeof b); b("thenable"); } })); e.on("error", (er) => console.log("error", er)); e.emit("x", 1, 2); console.log("after"); }
await turn();
{ const e = new EE({ captureRejections: true }); e.on("error", async (er) => { throw new Error("in error"); }); e.emit("error", new Error("q")); }
await turn();
console.log(EE.captureRejections); EE.captureRejections = true; console.log(EE.captureRejections);
{ const e = new EE(); e.once("x", async (v) => { throw new Error("d" + v); }); e.on("error", (er) => console.log("error", er.message)); e.emit("x", 1); }
try { EE.captureRejections = 1 } catch (er) { console.log(er.code, er.message) }
EE.captureRejections = false;
await turn();
{ class M extends EE { constructor() { super({ captureRejections: true }); } [Symbol.for("nodejs.rejection")](er, n) { console.log("method", er.message, n); } } const e = new M(); e.on("z", async () => { throw new Error("m"); }); e.emit("z"); }
await turn();
console.log(captureRejectionSymbol, errorMonitor);
// statics
const t = async (name, f) => { try { console.log(name, await f()); } catch (e) { console.log(name, "!", e?.name, e?.code, e?.message); } };
const et = new EventTarget(); et.addEventListener("foo", () => {}); 
await t("gel", () => [EE.getEventListeners(et, "foo").length, EE.getEventListeners(new EE(), "x")]);
for (const bad of [1, {}, "x"]) { await t("gel bad", () => EE.getEventListeners(bad, "foo")); await t("gml bad", () => EE.getMaxListeners(bad)); await t("sml bad", () => EE.setMaxListeners(5, bad)); await t("once bad", () => EE.once(bad, "x")); await t("on bad", () => EE.on(bad, "x")); await t("once opt", () => Promise.race([EE.once(new EE(), "x", bad), 5]));  await t("once opt signal", () => Promise.race([EE.once(new EE(), "x", { signal: bad }), 5])); await t("on opt", () => typeof EE.on(new EE(), "x", bad)); await t("on opt signal", () => typeof EE.on(new EE(), "x", {signal: bad})); await t("aal", () => EE.addAbortListener(bad, () => {})); await t("aal2", () => EE.addAbortListener(new AbortController().signal, bad)); await t("sml", () => EE.setMaxListeners(bad)); EE.defaultMaxListeners = 10; }
await t("gml", () => [EE.getMaxListeners(et), EE.getMaxListeners(new EE()), EE.getMaxListeners(new AbortController().signal)]);
await t("sml", () => { const e = new EE(); EE.setMaxListeners(5, e, et); return [EE.getMaxListeners(et), e.getMaxListeners()]; });
await t("sml all", () => { EE.setMaxListeners(12); const r = [EE.defaultMaxListeners, EE.getMaxListeners(new EventTarget()), new EE().getMaxListeners()]; EE.defaultMaxListeners = 10; return r; });
await t("aal", () => { const ac = new AbortController(); const d = EE.addAbortListener(ac.signal, (e) => console.log("aborted", e.type)); ac.abort(); return typeof d; });
await t("aal disp", () => { const ac = new AbortController(); const d = EE.addAbortListener(ac.signal, (e) => console.log("aborted never", e.type)); d[Symbol.dispose](); ac.abort(); return 1; });
await t("aal already", async () => { const ac = new AbortController(); ac.abort(); const d = EE.addAbortListener(ac.signal, (...a) => console.log("aborted at once", a)); console.log("sync"); await 1; return 1; });
await t("aal stop", async () => { const ac = new AbortController(); ac.signal.addEventListener("abort", (e) => e.stopImmediatePropagation()); EE.addAbortListener(ac.signal, (e) => console.log("in spite", e.type)); ac.abort(); });
await t("eear", () => { const e = new EE.EventEmitterAsyncResource({ name: "Q" }); e.on("x", function (...a) { console.log(this === e, a); }); return [e.emit("x", 1), typeof e.asyncId, typeof e.triggerAsyncId, e.asyncResource.constructor.name, e.asyncResource.eventEmitter === e, e instanceof EE, e.emitDestroy()]; });
await t("eear2", () => { const e = new EE.EventEmitterAsyncResource("name"); return e instanceof EE; });
await t("eear3", () => { const e = new EE.EventEmitterAsyncResource(); return e instanceof EE; });
await t("eear4", () => { class X extends EE.EventEmitterAsyncResource {}; const e = new X(); return e instanceof EE; });
await t("on close", async () => { const e = new EE(); const got = []; setTimeout(() => { e.emit("x", 1); e.emit("x", 2); e.emit("end"); }, 1); for await (const v of EE.on(e, "x", { close: ["end"] })) got.push(v); return got; });
await t("on hw", async () => { const e = new EE(); const log = []; e.pause = () => log.push("pause"); e.resume = () => log.push("resume"); const it = EE.on(e, "x", { highWaterMark: 2, lowWaterMark: 1 }); for (let i = 0; i < 4; i++) e.emit("x", i); for (let i = 0; i < 4; i++) log.push((await it.next()).value[0]); await it.return(); return [log, await it.next(), e.eventNames()]; });
for (const bad of [0, -1, 1.5, "1", NaN]) await t("on hw bad", () => typeof EE.on(new EE(), "x", { highWaterMark: bad }));
await t("on throw", async () => { const it = EE.on(new EE(), "x"); return it.throw("not error"); });
await t("on throw2", async () => { const it = EE.on(new EE(), "x"); it.throw(new Error("th")); return it.next(); });
await t("on err", async () => { const e = new EE(); const it = EE.on(e, "x"); e.emit("x", 1); e.emit("error", new Error("boom")); console.log(await it.next()); await it.next().catch((er) => console.log(er.message)); return it.next(); });
await t("on sig", async () => { const ac = new AbortController(); const it = EE.on(new EE(), "x", { signal: ac.signal }); ac.abort("why"); try { await it.next(); } catch (e) { return [e.name, e.code, e.cause, e.message]; } });
await t("once sig", async () => { const ac = new AbortController(); const p = EE.once(new EE(), "x", { signal: ac.signal }); ac.abort("why"); try { await p; } catch (e) { return [e.name, e.code, e.cause, e.message]; } });
await t("once error", async () => { const e = new EE(); const p = EE.once(e, "error"); e.emit("error", 5, 6); return p; });
await t("once et", async () => { const e = new EventTarget(); const p = EE.once(e, "x"); e.dispatchEvent(new Event("x")); return (await p)[0].type; });
await t("on et", async () => { const e = new EventTarget(); const it = EE.on(e, "x"); e.dispatchEvent(new Event("x")); return (await it.next()).value[0].type; });
await t("on proto", () => { const it = EE.on(new EE(), "x"); return [typeof it.next, typeof it.return, typeof it.throw, typeof it[Symbol.asyncIterator], it[Symbol.asyncIterator]() === it]; });
await t("static count", () => [EE.listenerCount({ listenerCount: () => 7 }, "x"), EE.listenerCount(new EE(), "x")]);
await t("static count bad", () => EE.listenerCount({}, "x"));
})();
