// NotifyWaiter calls Resolve for those of the agent that notifies: their reactions come before what the caller queues next.
//@ flags: --main-can-block
//@ stdout: checks
//@ node: same
// On Node: V8 resolves an agent's own promises in a task after the script, not inside notify.
//@ node differs: w before m

const { check, pause, word } = require("./support/check.js");

(async () => {
  const array = word();
  const log = [];
  for (const name of ["w1", "w2", "w3"]) Atomics.waitAsync(array, 0, 0).value.then(() => log.push(name));
  Promise.resolve().then(() => log.push("before"));
  Atomics.notify(array, 0, 2);
  Promise.resolve().then(() => log.push("between"));
  Atomics.notify(array, 0);
  Promise.resolve().then(() => log.push("m"));
  check("nothing runs inside", log, []);
  while (log.length < 6) await pause();
  check("w before m", log, ["before", "w1", "w2", "between", "w3", "m"]);
})();
