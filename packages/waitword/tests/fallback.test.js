// Without `Atomics.waitAsync`: helper workers where there is a global `Worker`, rechecks where there is none.
import { AsyncLock, Condition, Event, Semaphore } from '../src/index.js';
import { entryLimit } from '../src/wait_async.js';
import { assert, equal, failure, run, test, turn, until } from './harness.js';
import * as jobs from './jobs.js';
import { COUNTER, LOCK, READY, START, WORDS } from './jobs.js';
import { withAgents } from './workers.js';

delete Atomics.waitAsync;
equal(entryLimit(), 1);
const shared = () => new Int32Array(new SharedArrayBuffer(4 * WORDS));

test('a page that awaits beside workers that block loses no count', async () => {
  const words = shared();
  await withAgents(2, async (agents) => {
    const calls = agents.map((agent) => agent.call('lockAndCount', words, 3, 20_000, 0));
    calls.push(jobs.awaitAndCount(words, 3, 25, 0, 4));
    const counts = await Promise.all(calls);
    equal(words[COUNTER], counts.reduce((sum, count) => sum + count, 0));
  });
});

test('abandoned waits lose nothing', async () => {
  const words = shared();
  await withAgents(2, async (agents) => {
    const calls = [agents[0].call('lockAndCount', words, 3, 5_000, 50), agents[1].call('giveUpAndCount', words, 3, 100, 50)];
    calls.push(jobs.giveUpAndCount(words, 3, 25, 50));
    const counts = await Promise.all(calls);
    equal(words[COUNTER], counts.reduce((sum, count) => sum + count, 0));
  });
});

test('the head waiter has a place in the queue', async () => {
  const words = shared();
  const lock = new AsyncLock(words, LOCK);
  await withAgents(1, async ([agent]) => {
    const held = agent.call('hold', words);
    await until(() => Atomics.load(words, READY) === 1);
    const waits = [lock.lockAsync(), lock.lockAsync({ timeout: 60_000 })];
    equal(await lock.lockAsync({ timeout: 2 }), null);
    Atomics.store(words, START, 1);
    Atomics.notify(words, START);
    for (const wait of waits) (await wait).release();
    await held;
  });
});

test('as many notifies as waiters end them all, one each', async () => {
  const event = new Event();
  let ended = 0;
  const waits = [0, 1, 2, 3].map(() => event.waitAsync().then(() => ended++));
  event.notifyOne();
  await until(() => ended > 0);
  await turn();
  equal(ended, 1);
  for (let i = 0; i < 3; i++) event.notifyOne();
  await Promise.all(waits);
  assert(!event.isStored);

  const semaphore = new Semaphore();
  const permits = [0, 1, 2].map(() => semaphore.acquireAsync());
  semaphore.release(3);
  await Promise.all(permits);

  const lock = new AsyncLock();
  const condition = new Condition();
  let begun = 0;
  const notified = [0, 1, 2].map(async () => {
    const guard = await lock.lockAsync();
    begun++;
    await condition.waitAsync(lock);
    guard.release();
  });
  await until(() => begun === 3);
  for (let i = 0; i < 3; i++) condition.notifyOne();
  await Promise.all(notified);
});

test('the other locks work as well', async () => {
  const semaphore = new Semaphore();
  const wait = semaphore.acquireAsync();
  semaphore.release();
  (await wait).release();

  const event = new Event();
  const waits = [event.waitAsync(), event.waitAsync()];
  event.notifyAll();
  for (const woken of waits) assert(await woken);
  equal(await event.waitAsync({ timeout: 5 }), false);

  const lock = new AsyncLock();
  const condition = new Condition();
  lock.lock();
  const notified = condition.waitAsync(lock);
  await lock.executeLocked(() => condition.notifyOne());
  assert(await notified);
  const controller = new AbortController();
  const aborted = condition.waitAsync(lock, { signal: controller.signal });
  controller.abort();
  equal((await failure(() => aborted)).name, 'AbortError');
  assert(lock.isLocked);
});

await run();
