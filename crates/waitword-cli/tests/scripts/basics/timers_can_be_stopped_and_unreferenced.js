//> false
//> 3

let ticks = 0;
const interval = setInterval(() => { if (++ticks === 3) clearInterval(interval); }, 1);
clearTimeout(setTimeout(() => console.log("never"), 1));
clearTimeout(+setTimeout(() => console.log("never"), 1));
clearImmediate(setImmediate(() => console.log("never")));
clearTimeout(undefined);
const far = setTimeout(() => console.log("never"), 1e6).unref();
console.log(far.hasRef());
process.on("exit", () => console.log(ticks));
