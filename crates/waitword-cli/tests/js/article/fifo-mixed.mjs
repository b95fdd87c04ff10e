// "If there are several pending Atomics.wait calls or Atomics.waitAsync calls related to the same location, they are
// all in the same FIFO queue": every way in which up to five of them can arrive.
//
// A script cannot see whether another agent is in the queue, and an agent that blocks cannot tell. So the value of the
// word is an epoch: waiter i waits for the value i, and the main agent stores 0, 1, 2, ... in turn. Comparing and
// joining the queue are one step, hence whoever is in the queue as waiter i joined it before the word became i + 1,
// and waiter i + 1 joined after that. Whoever is late is told 'not-equal' and says so. Thus the order of the queue is
// known for certain, whatever the scheduler did. An attempt in which somebody was late is checked like any other, and
// then repeated with more patience.
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { equal, ok, pause, stayAlive } from './support/check.mjs';
import { Channel, Partner } from './support/partner.mjs';

const MOST = 5;
const KINDS = ['wait', 'waitAsync', 'own waitAsync']; // the last one: by the agent that will notify
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
    ok(`notify(k) wakes the k who came first, 1 <= k <= ${n}: all ${patterns.length} arrivals of ${n}`);
  }

  for (const partner of partners) partner.dismiss();
  done();
} else {
  const word = new Int32Array(workerData);
  parentPort.on('message', ({ kind, epoch }) => {
    if (kind === 'wait') {
      parentPort.postMessage('arriving'); // its last words: it cannot say that it has arrived
      parentPort.postMessage(Atomics.wait(word, 0, epoch));
    } else {
      const { value } = Atomics.waitAsync(word, 0, epoch);
      parentPort.postMessage('arrived');
      Promise.resolve(value).then((outcome) => parentPort.postMessage(outcome));
    }
  });
}

/** Lines up `pattern` and has `notify` wake it, until nobody was late. The order is checked every time. */
async function check(word, partners, pattern, notify) {
  const what = `arrived as ${pattern.join(', ')}`;
  for (let attempt = 0; attempt < 20; attempt++) {
    const woken = new Channel();
    const outcomes = await lineUp(word, partners, pattern, woken, attempt);
    const order = await notify(word, woken);
    equal(order, [...order].sort(), `${what}: the order in which they were woken`);

    const oks = (await Promise.all(outcomes)).filter((outcome) => outcome === 'ok').length;
    equal(oks, order.length, `${what}: as many 'ok' as notify said`);
    if (oks === pattern.length) return;
  }
  throw new Error(`${what}: somebody was told 'not-equal' in every attempt`);
}

/** Resolves when everybody has joined the queue or is late; the promises in it bring the outcomes. */
async function lineUp(word, partners, pattern, woken, attempt) {
  rounds++;
  const outcomes = [];
  for (const [epoch, kind] of pattern.entries()) {
    Atomics.store(word, 0, epoch);
    // Who stands where changes from round to round, so that no other order can pass for the order of arrival.
    const partner = partners[(rounds + (rounds % 2 ? epoch : MOST - epoch)) % MOST];
    const { outcome } = await arrive(word, partner, kind, epoch);
    outcomes.push(outcome.then((value) => {
      if (value === 'ok') woken.put(epoch);
      return value;
    }));
    if (kind === 'wait' && attempt > 0) await pause(Math.min(2 ** attempt, 1000));
  }
  Atomics.store(word, 0, pattern.length); // from here on, everybody else is late
  return outcomes;
}

async function arrive(word, partner, kind, epoch) {
  if (kind === 'own waitAsync') return { outcome: Promise.resolve(Atomics.waitAsync(word, 0, epoch).value) };
  partner.tell({ kind, epoch });
  await partner.hear();
  return { outcome: partner.hear() };
}

/** Notifies one, hears it, notifies the next: the order in which they speak is the order in which they were woken. */
async function oneByOne(word, woken) {
  const order = [];
  while (Atomics.notify(word, 0, 1) === 1) order.push(await woken.take());
  return order;
}

/** Notifies `k` at once, then the rest. Those woken by one notify speak in any order, so each of the two is sorted. */
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
