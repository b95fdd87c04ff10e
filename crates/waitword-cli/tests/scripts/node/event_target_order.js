// What is removed, added and fired while an event is dispatched, on targets.
//@ flags: --main-can-block
//@ stdout: as on Node

const log = [];
{ const t = new EventTarget(); const b = () => log.push("b"); t.addEventListener("x", () => { log.push("a"); t.removeEventListener("x", b); }); t.addEventListener("x", b); t.dispatchEvent(new Event("x")); }
{ const t = new EventTarget(); t.addEventListener("newListener", () => log.push("nl")); t.addEventListener("x", () => {}); t.addEventListener("removeListener", () => log.push("rl")); t.removeEventListener("x", () => {}); const f = () => {}; t.addEventListener("q", f); t.removeEventListener("q", f); }
{ const t = new EventTarget(); let n = 0, d = 0; t.addEventListener("x", () => { if (d++ === 0) t.dispatchEvent(new Event("x")); }); t.addEventListener("x", () => n++, { once: true }); t.dispatchEvent(new Event("x")); log.push(n); }
console.log(log);
