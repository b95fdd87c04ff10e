// A waiter that compares and waits never misses a notifier that stores and notifies: else this would hang.
//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { Worker, isMainThread, workerData } = require("node:worker_threads");
const { check, word } = require("./support/check.js");

const ROUNDS = 2_000;
const array = workerData ?? word();
const wait = isMainThread ? (value) => Atomics.waitAsync(array, 0, value).value : (value) => Atomics.wait(array, 0, value);

const turns = isMainThread ? 0 : 1;
(async () => {
  if (isMainThread) new Worker(__filename, { workerData: array });
  for (let round = 0; round < ROUNDS; round++) {
    for (let value; (value = Atomics.load(array, 0)) % 2 !== turns; ) await wait(value);
    Atomics.add(array, 0, 1);
    Atomics.notify(array, 0);
  }
  if (isMainThread) {
    for (let value; (value = Atomics.load(array, 0)) < 2 * ROUNDS; ) await wait(value);
    check("turns", array[0], 2 * ROUNDS);
  }
})();
