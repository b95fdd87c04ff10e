// Web Locks: a request whose lock is stolen is rejected at the steal, also if its callback settles before its agent hears of that.
//@ flags: --main-can-block
//> another agent stole it: AbortError
//> this agent stole it, before: AbortError, and the thief has its result
//> this agent stole it, and the callback fails: AbortError, and the thief has its result
//> nobody stole it: kept

const { locks, Worker } = require("node:worker_threads");

/** A lock that is held, what its request comes to, and how its callback ends. */
async function held(name) {
  let settle;
  let result;
  await new Promise((isHeld) => {
    result = locks.request(name, () => new Promise((resolve, reject) => {
      settle = { resolve, reject };
      isHeld();
    })).catch((error) => error.name);
  });
  return { result, ...settle };
}

(async () => {
  const one = await held("one");
  const word = new Int32Array(new SharedArrayBuffer(4));
  const thief = `const { locks, workerData: word } = require("node:worker_threads");
    locks.request("one", { steal: true }, () => { Atomics.store(word, 0, 1); Atomics.notify(word, 0); });`;
  new Worker(thief, { eval: true, workerData: word });
  // The news of the steal waits meanwhile.
  Atomics.wait(word, 0, 0);
  one.resolve("kept");
  console.log("another agent stole it:", await one.result);

  const two = await held("two");
  const second = locks.request("two", { steal: true }, () => "its result");
  two.resolve("kept");
  console.log(`this agent stole it, before: ${await two.result}, and the thief has ${await second}`);

  const three = await held("three");
  const third = locks.request("three", { steal: true }, () => "its result");
  three.reject(new RangeError("late"));
  console.log(`this agent stole it, and the callback fails: ${await three.result}, and the thief has ${await third}`);

  const four = await held("four");
  four.resolve("kept");
  console.log("nobody stole it:", await four.result);
})();
