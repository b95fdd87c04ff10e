// BroadcastChannel: to all others of the name, in this agent and in others, and never to the sender.
//@ flags: --main-can-block
//@ stdout: as on Node

const { BroadcastChannel, Worker, isMainThread } = require("node:worker_threads");

if (isMainThread) {
  const room = new BroadcastChannel("room");
  const here = new BroadcastChannel("room");
  const elsewhere = new BroadcastChannel("elsewhere");
  elsewhere.onmessage = () => console.log("never");
  console.log(room.name, globalThis.BroadcastChannel === BroadcastChannel, room instanceof EventTarget);
  const memory = new SharedArrayBuffer(4);
  let ready = 0;
  let heard = 0;
  room.onmessage = ({ data, target, type, constructor }) => {
    if (data === "ready" && ++ready === 2) {
      console.log("both are ready", type, target === room, constructor === MessageEvent);
      room.postMessage({ memory, map: new Map([[1, new Set([2])]]) });
    }
    if (data !== "done" || ++heard < 2) return;
    console.log("sum", new Int32Array(memory)[0]);
    for (const each of [room, here, elsewhere]) each.close();
    try {
      room.postMessage("too late");
    } catch (error) {
      console.log(error.name, error.code, error instanceof DOMException);
    }
  };
  here.addEventListener("message", ({ data }) => data.map && console.log("here", data.map), { once: false });
  try {
    room.postMessage(() => {});
  } catch (error) {
    console.log(error.name);
  }
  const codes = [];
  for (let at = 0; at < 2; at++) new Worker(__filename).on("exit", (code) => codes.push(code));
  process.on("exit", () => console.log(codes));
} else {
  const room = new BroadcastChannel("room");
  room.onmessage = ({ data }) => {
    if (!data.memory) return;
    Atomics.add(new Int32Array(data.memory), 0, 21);
    room.postMessage("done");
    room.close();
  };
  room.postMessage("ready");
}
