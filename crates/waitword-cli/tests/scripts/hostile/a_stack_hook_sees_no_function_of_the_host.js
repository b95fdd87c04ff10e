// A stack hook is shown the functions themselves: with those of the host a script could forge messages and events.
//> { toString: [Function: look] }
//> main.js,null hooked true
//> string undefined

const { MessageChannel } = require("worker_threads");
const seen = new Set();
Error.prepareStackTrace = (error, sites) => {
  for (const site of sites) seen.add(`${site.getFileName()}`.replace(/.*[\\/]/, ""));
  return "hooked";
};
const hook = Error.prepareStackTrace;
const look = () => new Error("look").stack;
const { port1, port2 } = new MessageChannel();
port2.once("message", look);
port1.postMessage(1);
setTimeout(look, 1);
process.on("exit", () => {
  look();
  console.log([...seen].join(), new Error("x").stack, hook === Error.prepareStackTrace);
  Error.prepareStackTrace = undefined;
  console.log(typeof new Error("x").stack, Error.prepareStackTrace);
});
console.log({ toString: look });
[1].map(look);
