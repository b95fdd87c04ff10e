// What the scripts of the points share. A check prints one line: whether it holds, what was asked, what came out. So the lines of
// two hosts can be compared one by one. A check that does not hold makes the exit code 1.
"use strict";

let log = [];

/** Compares what can be written as JSON. */
exports.check = (what, actual, expected) => {
  const [is, should] = [actual, expected].map((value) => (typeof value === "string" ? value : JSON.stringify(value)));
  console.log(is === should ? `ok  ${what}: ${is}` : `NOT ${what}: ${is}, and not ${should}`);
  if (is !== should) process.exitCode = 1;
};

/** What `f` had converted, in order, and what it returned or threw at last. */
exports.run = (f) => {
  log = [];
  try {
    const returned = String(f());
    return [...log, returned].join();
  } catch (error) {
    return [...log, error.name].join();
  }
};

/** An object whose conversion to a number is noted. */
exports.logged = (name, value) => ({ valueOf: () => (log.push(name), value) });

/** One whose conversion throws. */
exports.poisoned = (name) => ({
  valueOf() {
    log.push(name);
    throw new EvalError(name);
  },
});

/** A word of 32 bits, of fresh memory. */
exports.word = () => new Int32Array(new SharedArrayBuffer(4));

/** Lets jobs and other agents run. */
exports.pause = (milliseconds = 1) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Notifies until somebody was there, however long that takes to come. */
exports.notifyOne = async (array, index) => {
  while (Atomics.notify(array, index, 1) === 0) await exports.pause();
};

/** The next message of a worker. */
exports.hear = (worker) => new Promise((resolve) => worker.once("message", resolve));
