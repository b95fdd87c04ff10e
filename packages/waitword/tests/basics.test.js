// Each lock in one agent: what it returns, its errors, deadlines and aborts.
import { AsyncLock, Condition, Event, Semaphore } from '../src/index.js';
import { assert, equal, failure, mayBlock, run, test, turn } from './harness.js';
import { disableRechecks } from './jobs.js';

const state = (lock) => new Int32Array(lock.buffer)[0];

test('the words are free, locked, contended', async () => {
  const lock = new AsyncLock();
  equal(state(lock), AsyncLock.FREE);
  const guard = lock.lock();
  equal(state(lock), AsyncLock.LOCKED);
  const waits = lock.lockAsync();
  equal(state(lock), AsyncLock.CONTENDED);
  guard.release();
  (await waits).release();
  equal(state(lock), AsyncLock.FREE);
});

test('tryLock takes a free lock and never waits', () => {
  const lock = new AsyncLock();
  const guard = lock.tryLock();
  assert(guard.isHeld && lock.isLocked);
  equal(lock.tryLock(), null);
  lock.unlock();
  assert(lock.tryLock());
});

test('instances on one word are one lock, and other words are others', () => {
  const words = new Int32Array(new SharedArrayBuffer(16), 4, 2);
  const [one, same, other] = [new AsyncLock(words, 1), new AsyncLock(words.buffer, 2), new AsyncLock(words)];
  assert(one.tryLock());
  equal(same.tryLock(), null);
  assert(other.tryLock());
});

test('a guard releases once', () => {
  const lock = new AsyncLock();
  const first = lock.lock();
  first.release();
  const second = lock.lock();
  first.release();
  assert(second.isHeld && lock.isLocked);
});

test('unlock of a free lock is an error and changes nothing', async () => {
  const lock = new AsyncLock();
  assert(/not held/.test((await failure(() => lock.unlock())).message));
  equal(state(lock), AsyncLock.FREE);
});

test('memory that is not shared, or too small, is an error that says what to pass', async () => {
  for (const target of [new ArrayBuffer(4), new Int32Array(4), {}, null, 7]) {
    const error = await failure(() => new AsyncLock(target));
    assert(error instanceof TypeError && /SharedArrayBuffer/.test(error.message), error.message);
  }
  for (const index of [-1, 4, 0.5, NaN, '0']) {
    const error = await failure(() => new AsyncLock(new SharedArrayBuffer(16), index));
    assert(error instanceof RangeError && /4 words/.test(error.message), error.message);
  }
});

test('where blocking is not allowed, the error names what to use; a free lock is taken', async () => {
  const lock = new AsyncLock();
  const condition = new Condition();
  const guard = lock.lock();
  if (mayBlock) return 'this agent may block';
  for (const [action, instead] of [
    [() => lock.lock(), /await lockAsync/],
    [() => condition.wait(lock), /await waitAsync/],
    [() => new Event().wait(), /await waitAsync/],
    [() => new Semaphore().acquire(), /await acquireAsync/],
  ]) {
    const error = await failure(action);
    assert(error instanceof TypeError && instead.test(error.message), error.message);
  }
  guard.release();
  lock.lock().release();
});

test('options are checked whether or not there is anything to wait for', async () => {
  const semaphore = new Semaphore();
  const event = new Event();
  const lock = new AsyncLock();
  for (const options of [{ timeout: NaN }, { timeout: '5' }, { timeout: null }, { signal: {} }, { signal: null }]) {
    semaphore.release();
    event.notifyOne();
    const free = [() => lock.lockAsync(options), () => lock.executeLocked(() => assert(false), options), () => semaphore.acquireAsync(options)];
    free.push(() => event.waitAsync(options), () => lock.lock(options), () => semaphore.acquire(options), () => event.wait(options));
    for (const action of free) assert((await failure(action)) instanceof TypeError, String(action));
    assert(!lock.isLocked);
    const guard = lock.lock();
    const held = [() => lock.lockAsync(options), () => new Condition().waitAsync(lock, options)];
    if (mayBlock) held.push(() => new Condition().wait(lock, options));
    for (const action of held) assert((await failure(action)) instanceof TypeError && lock.isLocked, String(action));
    guard.release();
  }
});

test('a deadline ends a wait, and not early', async () => {
  const lock = new AsyncLock();
  const guard = lock.lock();
  for (const timeout of [0, 1.5, 10]) {
    for (const wait of mayBlock ? ['lock', 'lockAsync'] : ['lockAsync']) {
      const begun = performance.now();
      equal(await lock[wait]({ timeout }), null);
      assert(performance.now() - begun >= timeout, `${wait} for ${timeout} ms ended after ${performance.now() - begun} ms`);
    }
  }
  guard.release();
  assert(await lock.lockAsync({ timeout: 0 }));
  assert((await failure(() => lock.lockAsync({ timeout: NaN }))) instanceof TypeError);
});

test('a free lock is taken also after the deadline', async () => {
  const lock = new AsyncLock();
  const guard = lock.lock();
  const wait = lock.lockAsync({ timeout: 1 });
  for (const end = performance.now() + 3; performance.now() < end; );
  guard.release(); // the wakeup is on its way, and the deadline is past
  assert(await wait);
});

test('an abort rejects with its reason, before and during the wait; not after', async () => {
  const lock = new AsyncLock();
  const guard = lock.lock();
  const controller = new AbortController();
  const { signal } = controller;
  const waits = [lock.lockAsync({ signal }), lock.executeLocked(() => assert(false), { signal }), new Semaphore().acquireAsync({ signal })];
  waits.push(new Event().waitAsync({ signal }));
  controller.abort('enough');
  for (const wait of waits) equal(await wait.then(() => 'locked', (reason) => reason), 'enough');
  guard.release();
  equal(await lock.lockAsync({ signal }).catch((reason) => reason), 'enough');
  const late = new AbortController();
  const held = await lock.lockAsync({ signal: late.signal });
  late.abort();
  assert(held.isHeld);
});

test('a wait that was given up forwards its wakeup', async () => {
  const restore = disableRechecks();
  const lock = new AsyncLock();
  const same = new AsyncLock(lock.buffer); // its waits are not those of `lock`
  const guard = lock.lock();
  const controller = new AbortController();
  const given = lock.lockAsync({ signal: controller.signal });
  const behind = same.lockAsync();
  controller.abort();
  await failure(() => given);
  guard.release();
  (await behind).release();
  restore();
});

test('waits that are given up leave one entry in the queue, not one each', async () => {
  const native = Atomics.waitAsync;
  if (!native) return 'this engine has no Atomics.waitAsync';
  let entries = 0;
  Atomics.waitAsync = (...args) => {
    entries++;
    return native.apply(Atomics, args);
  };
  try {
    const lock = new AsyncLock();
    lock.lock();
    for (let i = 0; i < 100; i++) {
      const controller = new AbortController();
      const wait = lock.lockAsync({ signal: controller.signal });
      controller.abort();
      await failure(() => wait);
    }
    equal(entries, 1);
    const wait = lock.lockAsync();
    lock.unlock();
    assert(await wait);
  } finally {
    Atomics.waitAsync = native;
  }
});

test('waiters of one agent are served in the order they came', async () => {
  const lock = new AsyncLock();
  const guard = lock.lock();
  const order = [];
  const waits = [0, 1, 2, 3].map(async (number) => {
    const held = await lock.lockAsync();
    order.push(number);
    held.release();
  });
  guard.release();
  await Promise.all(waits);
  equal(order.join(), '0,1,2,3');
});

test('executeLocked runs at once if the lock is free, and brings the result', async () => {
  const lock = new AsyncLock();
  let ran = false;
  const result = lock.executeLocked(() => ((ran = true), 42));
  assert(ran);
  equal(await result, 42);
  assert(!lock.isLocked);
});

test('executeLocked holds the lock until the promise settles, and releases it after an error', async () => {
  const lock = new AsyncLock();
  let finish;
  const slow = lock.executeLocked(() => new Promise((resolve) => (finish = resolve)));
  await turn();
  assert(lock.isLocked);
  finish('done');
  equal(await slow, 'done');
  const error = new Error('out of ink');
  for (const callback of [() => { throw error; }, async () => { throw error; }]) {
    equal(await failure(() => lock.executeLocked(callback)), error);
    assert(!lock.isLocked);
  }
});

test('executeLocked that comes too late is a TimeoutError', async () => {
  const lock = new AsyncLock();
  lock.lock();
  equal((await failure(() => lock.executeLocked(() => assert(false), { timeout: 1 }))).name, 'TimeoutError');
});

test('using releases at the end of the block', async () => {
  const AsyncFunction = (async () => {}).constructor;
  let block;
  try {
    block = new AsyncFunction('lock', 'seen', `
      { using guard = lock.lock(); seen.push(lock.isLocked); }
      { await using guard = await lock.lockAsync(); seen.push(lock.isLocked); }
      { using guard = await lock.lockAsync({ timeout: 0 }); seen.push(guard.isHeld); using none = lock.tryLock(); seen.push(none); }
    `);
  } catch {
    return 'this engine does not parse `using`';
  }
  const lock = new AsyncLock();
  const seen = [];
  await block(lock, seen);
  equal(seen.join(), 'true,true,true,');
  assert(!lock.isLocked);
});

test('guards are disposable, also where the engine has no such symbol', () => {
  const lock = new AsyncLock();
  lock.lock()[Symbol.dispose ?? Symbol.for('Symbol.dispose')]();
  assert(!lock.isLocked);
});

test('a semaphore counts its permits', async () => {
  const semaphore = new Semaphore();
  equal(semaphore.tryAcquire(), null);
  semaphore.release(2);
  const first = semaphore.acquire();
  const second = await semaphore.acquireAsync();
  equal(semaphore.permits, 0);
  equal(await semaphore.acquireAsync({ timeout: 1 }), null);
  const waits = [semaphore.acquireAsync(), semaphore.acquireAsync()];
  first.release();
  first.release();
  second.release();
  for (const permit of await Promise.all(waits)) permit.release();
  equal(semaphore.permits, 2);
  for (const permits of [-1, 0.5, Infinity]) assert((await failure(() => semaphore.release(permits))) instanceof RangeError);
  assert((await failure(() => semaphore.release(Semaphore.MAX_PERMITS))) instanceof RangeError);
  semaphore.release(Semaphore.MAX_PERMITS - 2);
  equal(semaphore.permits, Semaphore.MAX_PERMITS);
});

test('an event stores one wakeup', async () => {
  const event = new Event();
  assert(!event.isStored && !event.tryWait());
  event.notifyOne();
  event.notifyOne();
  assert(event.isStored);
  equal(await event.waitAsync(), true);
  equal(await event.waitAsync({ timeout: 1 }), false);
});

test('an event wakes the waiters that are there, one or all', async () => {
  const event = new Event();
  const woken = [];
  const waits = [0, 1, 2].map(async (number) => (await event.waitAsync(), woken.push(number)));
  event.notifyOne();
  await waits[0];
  await turn();
  equal(woken.join(), '0');
  event.notifyAll();
  await Promise.all(waits);
  equal(woken.join(), '0,1,2');
  assert(!event.isStored);
});

test('an event whose waiter gave up keeps the wakeup', async () => {
  const event = new Event();
  const controller = new AbortController();
  const wait = event.waitAsync({ signal: controller.signal });
  controller.abort();
  await failure(() => wait);
  event.notifyOne();
  assert(await event.waitAsync({ timeout: 1000 }));
});

test('a condition releases the lock while it waits, and has it again afterwards', async () => {
  const lock = new AsyncLock();
  const condition = new Condition();
  const guard = await lock.lockAsync();
  const wait = condition.waitAsync(lock);
  assert(!lock.isLocked);
  await lock.executeLocked(() => condition.notifyOne());
  equal(await wait, true);
  assert(lock.isLocked && guard.isHeld);
  equal(await condition.waitAsync(lock, { timeout: 1 }), false);
  assert(lock.isLocked);
  const controller = new AbortController();
  const aborted = condition.waitAsync(lock, { signal: controller.signal });
  controller.abort('enough');
  equal(await aborted.catch((reason) => reason), 'enough');
  assert(lock.isLocked, 'the lock is held when the wait rejects');
  guard.release();
  assert(/lock held/.test((await failure(() => condition.waitAsync(lock))).message));
});

test('a condition forwards to a waiter that was there, not to one that came later', async () => {
  const lock = new AsyncLock();
  const words = new SharedArrayBuffer(8);
  const [condition, other] = [new Condition(words), new Condition(words)];
  const controller = new AbortController();
  const woken = [];
  const wait = async (on, name, options) => {
    const guard = await lock.lockAsync();
    await on.waitAsync(lock, options).then(() => woken.push(name), () => {});
    guard.release();
  };
  wait(condition, 'given up', { signal: controller.signal });
  await turn();
  const behind = wait(other, 'behind', {});
  await turn();
  controller.abort();
  await turn();
  condition.notifyOne(); // reaches the entry of the wait that was given up
  const later = wait(condition, 'later', {}); // adopts that entry
  await behind;
  equal(woken.join(), 'behind');
  condition.notifyOne();
  await later;
});

await run();
