//> script
//> microtask
//> queued
//> immediate
//> timer a b
//> its microtask
//> next timer

// Due at once, so before the timers, however long this script takes.
setImmediate(() => console.log("immediate"));
setTimeout((...args) => { console.log("timer", ...args); Promise.resolve().then(() => console.log("its microtask")); }, 1, "a", "b");
setTimeout(() => console.log("next timer"), 1);
Promise.resolve().then(() => console.log("microtask"));
queueMicrotask(() => console.log("queued"));
console.log("script");
