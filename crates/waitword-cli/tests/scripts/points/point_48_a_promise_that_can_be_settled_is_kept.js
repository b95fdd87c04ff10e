//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { MessageChannel } = require("node:worker_threads");
const { check, pause, word } = require("./support/check.js");

(async () => {
  const array = word();
  const log = [];
  for (let waiter = 0; waiter < 100; waiter++) Atomics.waitAsync(array, 0, 0).value.then((outcome) => log.push(outcome));
  let garbage = [];
  for (let round = 0; round < 2_000; round++) garbage = [garbage.length, new ArrayBuffer(1 << 12)];
  await pause();
  check("queued", Atomics.notify(array, 0), 100);
  while (log.length < 100) await pause();
  check("settled", log.filter((outcome) => outcome === "ok").length, 100);
  // A host may let go of waits that nothing can end any more, once there are many. These are not among them: the memory is in
  // messages that can still be taken.
  const { port1, port2 } = new MessageChannel();
  const crowd = [];
  for (let waiter = 0; waiter < 3_000; waiter++) {
    const inMessage = word();
    crowd.push(Atomics.waitAsync(inMessage, 0, 0).value);
    port1.postMessage(inMessage);
  }
  let woken = 0;
  port2.on("message", (taken) => {
    woken += Atomics.notify(taken, 0);
    if (woken === crowd.length) port2.close();
  });
  check("all of a crowd", (await Promise.all(crowd)).filter((outcome) => outcome === "ok").length, 3_000);
})();
