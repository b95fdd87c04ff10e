// Each copy of what is broadcast counts; when they do not all fit, nobody gets one.
//@ flags: --memory-limit 8M
//> DataCloneError 1
//> 0,0,0,last,last,last

const { MIB, fill } = require("./support/fill.js");
const { BroadcastChannel } = require("worker_threads");
const sender = new BroadcastChannel("room");
const others = [1, 2, 3].map(() => new BroadcastChannel("room"));
const heard = [];
const hear = ({ data: { round } }) => {
  heard.push(round);
  if (heard.length === 3) sender.postMessage({ round: "last", text });
  if (heard.filter((each) => each === "last").length < 3) return;
  console.log(heard.join());
  for (const each of [sender, ...others]) each.close();
};
for (const each of others) each.onmessage = hear;
const text = "x".repeat(MIB);
let round = 0;
const [taken, error] = fill(() => sender.postMessage({ round: round++, text }));
console.log(error.name, taken);
