// One FIFO queue for `wait` and `waitAsync` of all agents: every order in which up to five of them can arrive.
//
// A script cannot see whether another agent has enqueued, and an agent that blocks cannot say so. So the value of the word
// is an epoch: waiter i waits for the value i, and the main agent stores 0, 1, 2, ... in turn. Compare and enqueue are one
// step, hence waiter i, if it is in the queue, enqueued before the word became i + 1, and waiter i + 1 after that. A waiter
// that is late gets 'not-equal' and reports it. So the order of the queue is known, whatever the scheduler did. An attempt
// with a late waiter is checked like any other, and then repeated with longer pauses.
//@ in place
//> ok  FIFO, notified one by one: all 3 arrivals of 1
//> ok  FIFO, notified one by one: all 9 arrivals of 2
//> ok  FIFO, notified one by one: all 27 arrivals of 3
//> ok  FIFO, notified one by one: all 81 arrivals of 4
//> ok  FIFO, notified one by one: all 243 arrivals of 5
//> ok  notify(k) wakes the k that came first, 1 <= k <= 1: all 2 arrivals of 1
//> ok  notify(k) wakes the k that came first, 1 <= k <= 2: all 4 arrivals of 2
//> ok  notify(k) wakes the k that came first, 1 <= k <= 3: all 8 arrivals of 3
//> ok  notify(k) wakes the k that came first, 1 <= k <= 4: all 16 arrivals of 4
//> ok  notify(k) wakes the k that came first, 1 <= k <= 5: all 32 arrivals of 5

import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { equal, ok, pause, stayAlive } from './support/check.mjs';
import { Channel, Partner } from './support/partner.mjs';

const MOST = 5;
const KINDS = ['wait', 'waitAsync', 'own waitAsync']; // the last: by the agent that notifies
let rounds = 0;

if (isMainThread) {
  const done = stayAlive();
  const sab = new SharedArrayBuffer(16);
  const word = new Int32Array(sab);
  const partners = Array.from({ length: MOST }, () => new Partner(import.meta.filename, sab));

  for (let n = 1; n <= MOST; n++) {
    const patterns = allPatterns(KINDS, n);
    for (const pattern of patterns) await check(word, partners, pattern, oneByOne);
    ok(`FIFO, notified one by one: all ${patterns.length} arrivals of ${n}`);
  }
  for (let n = 1; n <= MOST; n++) {
    const patterns = allPatterns(KINDS.slice(0, 2), n);
    for (const pattern of patterns) {
      for (let k = 1; k <= n; k++) await check(word, partners, pattern, firstThenRest(k));
    }
    ok(`notify(k) wakes the k that came first, 1 <= k <= ${n}: all ${patterns.length} arrivals of ${n}`);
  }

  for (const partner of partners) partner.terminate();
  done();
} else {
  const word = new Int32Array(workerData);
  parentPort.on('message', ({ kind, epoch }) => {
    if (kind === 'wait') {
      parentPort.postMessage('arriving'); // the last message before it blocks: it cannot say that it has enqueued
      parentPort.postMessage(Atomics.wait(word, 0, epoch));
    } else {
      const { value } = Atomics.waitAsync(word, 0, epoch);
      parentPort.postMessage('arrived');
      Promise.resolve(value).then((outcome) => parentPort.postMessage(outcome));
    }
  });
}

/** Enqueues `pattern` and has `notify` wake it, until no waiter was late. The order is checked in each attempt. */
async function check(word, partners, pattern, notify) {
  const what = `arrived as ${pattern.join(', ')}`;
  for (let attempt = 0; attempt < 20; attempt++) {
    const woken = new Channel();
    const outcomes = await enqueueAll(word, partners, pattern, woken, attempt);
    const order = await notify(word, woken);
    equal(order, [...order].sort(), `${what}: the order in which they were woken`);

    const oks = (await Promise.all(outcomes)).filter((outcome) => outcome === 'ok').length;
    equal(oks, order.length, `${what}: as many 'ok' as notify said`);
    if (oks === pattern.length) return;
  }
  throw new Error(`${what}: some waiter got 'not-equal' in every attempt`);
}

/** Fulfilled when each waiter has enqueued or is late. The promises in it bring the outcomes. */
async function enqueueAll(word, partners, pattern, woken, attempt) {
  rounds++;
  const outcomes = [];
  for (const [epoch, kind] of pattern.entries()) {
    Atomics.store(word, 0, epoch);
    // The agents' positions change from round to round, so that no other order can pass for the order of arrival.
    const partner = partners[(rounds + (rounds % 2 ? epoch : MOST - epoch)) % MOST];
    const { outcome } = await arrive(word, partner, kind, epoch);
    outcomes.push(outcome.then((value) => {
      if (value === 'ok') woken.put(epoch);
      return value;
    }));
    if (kind === 'wait' && attempt > 0) await pause(Math.min(2 ** attempt, 1000));
  }
  Atomics.store(word, 0, pattern.length); // from here on, all others are late
  return outcomes;
}

async function arrive(word, partner, kind, epoch) {
  if (kind === 'own waitAsync') return { outcome: Promise.resolve(Atomics.waitAsync(word, 0, epoch).value) };
  partner.send({ kind, epoch });
  await partner.receive();
  return { outcome: partner.receive() };
}

/** Notifies one waiter, receives its message, notifies the next: the order of the messages is the order of the queue. */
async function oneByOne(word, woken) {
  const order = [];
  while (Atomics.notify(word, 0, 1) === 1) order.push(await woken.take());
  return order;
}

/** Notifies `k` at once, then the rest. The messages of one notify come in any order, so each of the two is sorted. */
function firstThenRest(k) {
  return async (word, woken) => {
    const first = await takeAll(woken, Atomics.notify(word, 0, k));
    const rest = await takeAll(woken, Atomics.notify(word, 0));
    return [...first, ...rest];
  };
}

async function takeAll(channel, n) {
  const values = [];
  while (values.length < n) values.push(await channel.take());
  return values.sort();
}

function allPatterns(kinds, n) {
  if (n === 0) return [[]];
  return allPatterns(kinds, n - 1).flatMap((pattern) => kinds.map((kind) => [...pattern, kind]));
}
