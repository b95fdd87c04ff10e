// Many agents at once: what a lock protects is exact, and nobody waits for ever.
import { AsyncLock, Condition, Event, Semaphore } from '../src/index.js';
import { assert, equal, run, test, turn, until } from './harness.js';
import * as jobs from './jobs.js';
import { COUNTER, LOCK, READY, START, STOP, WORDS } from './jobs.js';
import { withAgents } from './workers.js';

const shared = () => new Int32Array(new SharedArrayBuffer(4 * WORDS));

/** Runs each job in an agent of its own, and `here` in this one. Returns the sum of what they return. */
async function together(words, inAgents, here = []) {
  const all = inAgents.length + (here.length > 0 ? 1 : 0);
  return withAgents(inAgents.length, async (agents) => {
    const calls = inAgents.map(([job, ...args], i) => agents[i].call(job, words, all, ...args));
    if (here.length > 0) calls.push(jobs[here[0]](words, all, ...here.slice(1)));
    return (await Promise.all(calls)).reduce((sum, count) => sum + count, 0);
  });
}

test('workers that block and agents that await lose no count', async () => {
  const words = shared();
  const workers = [['lockAndCount', 20_000], ['lockAndCount', 20_000], ['awaitAndCount', 500, 0, 4]];
  const total = await together(words, workers, ['awaitAndCount', 300, 0, 4]);
  equal(words[COUNTER], total);
  equal(total, 43_200);
});

test('abandoned waits under load lose nothing', async () => {
  const words = shared();
  const workers = [['lockAndCount', 10_000, 50], ['tryForAndCount', 2_000, 50], ['giveUpAndCount', 300, 50]];
  const total = await together(words, workers, ['giveUpAndCount', 200, 50]);
  equal(words[COUNTER], total);
  assert(new AsyncLock(words, LOCK).tryLock(), 'the lock is free at the end');
});

test('a worker that blocks behind abandoned waits is woken, again and again', async () => {
  const words = shared();
  await withAgents(1, async ([agent]) => {
    for (let i = 1; i <= 200; i++) {
      const lock = new AsyncLock(words, LOCK);
      const guard = lock.lock();
      const controller = new AbortController();
      const given = Array.from({ length: i % 4 }, () => lock.lockAsync({ signal: controller.signal }).catch(() => {}));
      const behind = agent.call('lockOnce', words);
      await until(() => Atomics.load(words, READY) === i);
      await turn();
      controller.abort();
      await Promise.all(given);
      guard.release();
      await behind;
    }
  });
});

test('a semaphore never has more holders than permits', async () => {
  const words = shared();
  const semaphore = new Semaphore(words, jobs.SEMAPHORE);
  semaphore.release(2);
  const workers = [['acquire', 5_000, 2, true], ['acquire', 5_000, 2, true], ['acquire', 500, 2, false]];
  await together(words, workers, ['acquire', 300, 2, false]);
  equal(semaphore.permits, 2);
});

test('a condition brings every item to a consumer', async () => {
  const words = shared();
  const [lock, condition] = [new AsyncLock(words, LOCK), new Condition(words, jobs.CONDITION)];
  const taken = await withAgents(3, async (agents) => {
    const consumers = agents.map((agent, i) => agent.call('consume', words, i < 2));
    const here = jobs.consume(words, false);
    for (let i = 0; i < 500; i++) {
      await lock.executeLocked(() => words[COUNTER]++);
      condition.notifyOne();
      if (i % 50 === 0) await turn();
    }
    await lock.executeLocked(() => (words[STOP] = 1));
    condition.notifyAll();
    return (await Promise.all([...consumers, here])).reduce((sum, count) => sum + count, 0);
  });
  equal(taken, 500);
});

test('an event wakes one waiter for each notify that finds one', async () => {
  const words = shared();
  const event = new Event(words, jobs.EVENT);
  await withAgents(2, async (agents) => {
    const listeners = agents.map((agent, i) => agent.call('listen', words, i === 0));
    await until(() => Atomics.load(words, READY) === 2);
    for (let i = 1; i <= 300; i++) {
      event.notifyOne();
      await until(() => Atomics.load(words, COUNTER) === i, `notify ${i}`);
    }
    Atomics.store(words, STOP, 1);
    await until(async () => {
      event.notifyAll();
      return (await Promise.race([Promise.all(listeners), turn()])) !== undefined;
    });
    equal((await Promise.all(listeners)).reduce((sum, count) => sum + count, 0), 300);
  });
});

test('an agent that does not turn its event loop holds up the others for the stall timeout only', async () => {
  const words = shared();
  const lock = new AsyncLock(words, LOCK);
  await withAgents(2, async ([stalls, blocks]) => {
    const guard = lock.lock();
    const stalled = stalls.call('awaitAndStall', words);
    await until(() => Atomics.load(words, READY) === 1);
    const behind = blocks.call('lockOnce', words, true);
    await until(() => Atomics.load(words, READY) === 2);
    guard.release(); // wakes the agent that stalls
    await behind; // before START: by a recheck
    Atomics.store(words, START, 1);
    Atomics.notify(words, START);
    await stalled;
  });
});

test('a worker that is terminated while it waits for a condition keeps no notify from others, and is not counted', async () => {
  const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
  let rounds = 0;
  for (let attempt = 0; rounds < 2 && attempt < 10; attempt++) {
    const words = shared();
    const lock = new AsyncLock(words, LOCK);
    const condition = new Condition(words, jobs.CONDITION);
    let wait;
    await withAgents(1, async ([agent]) => {
      agent.call('waitOnce', words).catch(() => {});
      await until(() => Atomics.load(words, READY) === 1);
      const guard = await lock.lockAsync();
      await pause(50); // the worker sleeps, in front of this agent
      wait = condition.waitAsync(lock).then(() => guard.release());
    });
    await pause(300); // a page is not told when a worker has ended
    condition.notifyOne();
    const isWoken = await Promise.race([wait.then(() => true), pause(10_000)]);
    // A worker that was still there may have been notified, and have ended with the lock: that shows nothing.
    if (!isWoken && lock.isLocked) continue;
    assert(isWoken, 'the notify was lost');
    for (let i = 0; i < 3; i++) condition.notifyOne();
    const before = words[jobs.CONDITION];
    condition.notifyOne();
    equal(words[jobs.CONDITION], before, 'the terminated worker counts as a waiter');
    rounds++;
  }
  equal(rounds, 2);
});

test('a worker that ends while it waits leaves nothing behind', async () => {
  const words = shared();
  const lock = new AsyncLock(words, LOCK);
  const guard = lock.lock();
  await withAgents(2, async (agents) => {
    agents[0].call('lockOnce', words).catch(() => {});
    agents[1].call('awaitAndCount', words, 1, 1).catch(() => {});
    await until(() => Atomics.load(words, READY) === 2);
  });
  const wait = lock.lockAsync();
  guard.release();
  (await wait).release();
});

await run();
