// A message that cannot be read would end the agent that it was sent to.
//> RangeError fickle /a/g
//> DataCloneError
//> fickle

const { Worker } = require("worker_threads");
const hostile = `
  const fickle = new Error("fickle");
  let asked = 0;
  Object.defineProperty(fickle, "name", { get: () => (asked++ % 2 ? "nothing" : "RangeError") });
  const flagged = /a/g;
  for (const flag of ["unicode", "unicodeSets"]) Object.defineProperty(flagged, flag, { value: true });`;
const [error, regExp] = structuredClone((0, eval)(`{${hostile} [fickle, flagged]}`));
console.log(error.name, error.message, regExp);
const short = new ArrayBuffer(16, { maxByteLength: 16 });
const view = new DataView(short, 4, 8);
short.resize(2);
try { structuredClone(view); } catch (error) { console.log(error.name); }
new Worker(`${hostile} throw fickle;`, { eval: true }).on("error", (error) => console.log(error.message));
