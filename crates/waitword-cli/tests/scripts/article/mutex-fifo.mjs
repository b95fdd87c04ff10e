// Waiters of three agents acquire the lock in the order in which they enqueued, if no other agent barges: each order of
// six waiters, two per agent. `executeLocked` has enqueued when it returns, so a message of its agent proves it. A release
// notifies after it has stored UNLOCKED, and a notify that is late would wake the next round's head waiter while the lock is
// held: it would wait again, at the end. So a round ends when each agent has ended the job in which it released.
//@ in place
//> ok  waiters acquire the lock in FIFO order, in all 90 orders of three agents

import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { AsyncLock } from './support/async-lock.mjs';
import { equal, ok, stayAlive } from './support/check.mjs';
import { Partner } from './support/partner.mjs';

if (isMainThread) {
  const done = stayAlive();
  const shared = { lock: new SharedArrayBuffer(4), log: new SharedArrayBuffer(4 * 7) };
  const lock = new AsyncLock(shared.lock);
  const log = new Int32Array(shared.log); // its length, then its entries; only the holder writes it
  const workers = [1, 2].map(() => new Partner(import.meta.filename, shared));

  const orders = arrangements([0, 0, 1, 1, 2, 2]);
  for (const order of orders) {
    log.fill(0);
    lock.lock();
    let mine = Promise.resolve();
    const posted = [];
    for (const [i, agent] of order.entries()) {
      if (agent === 0) {
        mine = Promise.all([mine, new Promise((resolve) => lock.executeLocked(() => resolve(write(log, i + 1))))]);
      } else {
        const worker = workers[agent - 1];
        worker.send(i + 1);
        equal(await worker.receive(), 'enqueued', 'a worker');
        posted.push(worker);
      }
    }
    lock.unlock();
    await mine;
    for (const worker of posted) equal(await worker.receive(), 'entered', 'a worker');
    for (const worker of workers) worker.send('end of the round');
    for (const worker of workers) equal(await worker.receive(), 'released', 'a worker');
    equal([...log], [6, 1, 2, 3, 4, 5, 6], `the log, for agents ${order.join(' ')}`);
  }
  ok(`waiters acquire the lock in FIFO order, in all ${orders.length} orders of three agents`);
  for (const worker of workers) worker.terminate();
  done();
} else {
  const lock = new AsyncLock(workerData.lock);
  const log = new Int32Array(workerData.log);
  parentPort.on('message', (entry) => {
    if (entry === 'end of the round') return parentPort.postMessage('released');
    lock.executeLocked(() => {
      write(log, entry);
      parentPort.postMessage('entered');
    });
    parentPort.postMessage('enqueued');
  });
}

function write(log, entry) {
  log[0]++;
  log[log[0]] = entry;
}

/** Each distinct order of `items`. */
function arrangements(items) {
  if (items.length === 0) return [[]];
  return [...new Set(items)].flatMap((first) => {
    const rest = items.toSpliced(items.indexOf(first), 1);
    return arrangements(rest).map((order) => [first, ...order]);
  });
}
