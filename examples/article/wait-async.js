// `Atomics.waitAsync`: the results that it returns at once, the outcomes of its promise, and the order of the queue.
//
//   waitword run examples/article/wait-async.js        node examples/article/wait-async.js
import { Worker, isMainThread, workerData } from 'node:worker_threads';

if (isMainThread) {
  await main();
} else {
  Atomics.notify(new Int32Array(workerData), 0);
}

async function main() {
  // Node exits with a pending waitAsync; a timer keeps it running. waitword waits for those that have a timeout.
  const running = setInterval(() => {}, 1000);
  const words = new Int32Array(new SharedArrayBuffer(8)); // both hold 0

  console.log('at once, without a promise');
  show('the word holds 0, not 1', Atomics.waitAsync(words, 0, 1));
  show('the timeout is 0', Atomics.waitAsync(words, 0, 0, 0));

  console.log('\nlater, by a promise');
  await settle('notified by this agent', Atomics.waitAsync(words, 0, 0), () => Atomics.notify(words, 0));
  await settle('notified by a worker', Atomics.waitAsync(words, 0, 0), () => {
    new Worker(import.meta.filename, { workerData: words.buffer });
  });
  await settle('not notified for 20 ms', Atomics.waitAsync(words, 0, 0, 20), () => {});

  console.log('\nfirst in, first out: a, b, c and d wait on one word');
  const woken = [];
  const waits = ['a', 'b', 'c', 'd'].map(async (name) => {
    await Atomics.waitAsync(words, 1, 0).value;
    woken.push(name);
  });
  for (const count of [1, 2, Infinity]) {
    const before = woken.length;
    const notified = Atomics.notify(words, 1, count);
    await Promise.all(waits.slice(0, before + notified));
    console.log(`  notify(${count})`.padEnd(28) + `woke ${woken.slice(before).join(', ')}`);
  }
  clearInterval(running);
}

async function settle(when, result, act) {
  show(when, result);
  act();
  console.log(`${''.padEnd(28)}then '${await result.value}'`);
}

function show(when, { async, value }) {
  console.log(`  ${when}`.padEnd(28) + `{ async: ${async}, value: ${async ? 'a promise' : `'${value}'`} }`);
}
