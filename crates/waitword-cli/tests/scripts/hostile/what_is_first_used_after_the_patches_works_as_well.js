// Parts of the host run when they are first asked for: here that is when all is patched.
//@ each PATCH in patches.txt
//> true
//> to the room
//> 7!, this one
//> captured
//>
//> end 0

const { ownKeys } = Reflect;
const { defineProperty, getPrototypeOf } = Object;
const boom = () => { throw "patched"; };
const each = (list, use) => { for (let at = 0; at < list.length; at++) use(list[at]); };
const { log } = console;
const load = require;
PATCH;
const { BroadcastChannel, MessageChannel, Worker, setEnvironmentData } = load("worker_threads");
process.on("exit", (code) => log("end " + code));
log(process.env.PATH.length > 0);
setEnvironmentData("key", { list: [7] });
const here = new BroadcastChannel("room");
const there = new BroadcastChannel("room");
there.onmessage = (event) => {
  log(event.data.word + event.target.name);
  here.close();
  there.close();
  start();
};
here.postMessage({ word: "to the " });
function start() {
  const text = `const { getEnvironmentData, parentPort } = require("worker_threads");
    parentPort.postMessage(getEnvironmentData("key").list[0] + process.env.ONE);
    console.log("captured");
    throw new RangeError("this one");`;
  const worker = new Worker(text, { eval: true, env: { ONE: "!" }, stdout: true, resourceLimits: { maxOldGenerationSizeMb: 64 } });
  let heard = "";
  let printed = "";
  worker.on("message", (text) => { heard += text + ", "; });
  worker.on("error", (error) => { heard += error.message; });
  worker.stdout.on("data", (text) => { printed += text; });
  worker.stdout.on("end", () => log(heard + "\n" + printed));
}
