// Timers, immediates and microtasks.
const log = [];
const stop = (timer) => clearTimeout(timer);
setTimeout((...args) => log.push("ten", ...args), 10, 1, 2);
setTimeout(() => log.push("five"), 5);
stop(setTimeout(() => log.push("never"), 1));
const interval = setInterval(() => {
  log.push("tick");
  if (log.filter((entry) => entry === "tick").length === 3) clearInterval(interval);
}, 1);
setTimeout(() => log.push("never"), 100_000).unref();
queueMicrotask(() => log.push("microtask"));
Promise.resolve().then(() => log.push("promise")).then(() => log.push("second promise"));
log.push("script");
setTimeout(() => {
  log.push("forty");
  Promise.resolve().then(() => log.push("its microtask"));
  setTimeout(() => {
    const ticks = log.filter((entry) => entry === "tick").length;
    console.log(log.filter((entry) => entry !== "tick"), ticks);
  }, 1);
}, 40);
process.on("exit", (code) => console.log("exit", code));
