// Timers, immediates and microtasks. Delays are far apart, so that no host has them expire in another order.
//@ flags: --main-can-block
//@ stdout: as on Node

const log = [];
const settled = (name) => Promise.resolve().then(() => log.push(name));

setTimeout((...args) => log.push("late", ...args), 3_000, 1, 2);
setTimeout(() => {
  log.push("soon");
  settled("its microtask");
  setImmediate(() => log.push("immediate"));
  queueMicrotask(() => log.push("its second"));
}, 2);
clearTimeout(setTimeout(() => log.push("never"), 1));
clearTimeout(+setTimeout(() => log.push("never"), 1));
clearImmediate(setImmediate(() => log.push("never")));
setTimeout(() => log.push("never"), 100_000).unref();
queueMicrotask(() => log.push("microtask"));
settled("promise").then(() => log.push("second promise"));
log.push("script");

let ticks = 0;
const interval = setInterval((word) => {
  if (++ticks === 3) {
    clearInterval(interval);
    setTimeout(() => console.log(word, ticks), 5);
  }
}, 1, "ticks");
process.on("exit", (code) => console.log(log, code));
