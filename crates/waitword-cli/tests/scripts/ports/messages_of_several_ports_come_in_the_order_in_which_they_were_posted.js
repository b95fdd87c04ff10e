//> 2 m
//> 0 m
//> 0 m
//> 1 m
//> 2 m
//> 0 m

const { MessageChannel } = require("worker_threads");
const channels = [0, 1, 2].map(() => new MessageChannel());
let left = 6;
channels.forEach(({ port1, port2 }, at) => port2.on("message", (value) => {
  console.log(at, value);
  if (--left === 0) for (const each of channels) each.port1.close();
}));
for (const at of [2, 0, 0, 1, 2, 0]) channels[at].port1.postMessage("m");
