// Each lock in one agent: what it returns, its errors, deadlines and aborts.
import { AsyncLock, Condition, Event, Semaphore } from '../src/index.js';
import { assert, equal, failure, mayBlock, run, test, turn, until } from './harness.js';
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

// Each method that takes options, on a lock that is free and on one that is held: what is waited for, or is already there.
const WITH_OPTIONS = {
  lock: { blocks: true, call: ({ lock }, options) => lock.lock(options) },
  lockAsync: { call: ({ lock }, options) => lock.lockAsync(options) },
  executeLocked: { call: ({ lock }, options) => lock.executeLocked(() => assert(false, 'the callback ran'), options) },
  acquire: { blocks: true, call: ({ semaphore }, options) => semaphore.acquire(options) },
  acquireAsync: { call: ({ semaphore }, options) => semaphore.acquireAsync(options) },
  'Event.wait': { blocks: true, call: ({ event }, options) => event.wait(options) },
  'Event.waitAsync': { call: ({ event }, options) => event.waitAsync(options) },
  'Condition.wait': { blocks: true, call: ({ condition, held }, options) => condition.wait(held, options) },
  'Condition.waitAsync': { call: ({ condition, held }, options) => condition.waitAsync(held, options) },
};

test('what are no options is a TypeError in every method, whether or not there is anything to wait for', async () => {
  const signal = new AbortController().signal;
  const wrong = [30, 0, NaN, '30', '', true, 30n, Symbol('30'), null, () => 30, [30], [], new Date(30), Promise.resolve(30), new Map(), signal];
  for (const timeout of [NaN, '30', null, true, 30n, {}, [30]]) wrong.push({ timeout });
  wrong.push({ signal: 30 }, { signal: null }, { signal: {} }, { signal: { throwIfAborted() {} } }, { signal: new AbortController() });
  for (const [method, { blocks, call }] of Object.entries(WITH_OPTIONS)) {
    // Nobody could abort a wait that blocks.
    for (const [number, options] of [...wrong, ...(blocks ? [{ signal }, { timeout: 30, signal }] : [])].entries()) {
      for (const isFree of [true, false]) {
        const [lock, held, condition, semaphore, event] = [new AsyncLock(), new AsyncLock(), new Condition(), new Semaphore(), new Event()];
        held.lock();
        if (isFree) event.notifyOne(), semaphore.release();
        else lock.lock();
        const before = [lock, held, condition, semaphore, event].map(state).join();
        const what = `${method}, ${isFree ? 'free' : 'held'}, the wrong options of number ${number}`;
        const error = await Promise.race([failure(() => call({ lock, held, condition, semaphore, event }, options)), turn().then(turn)]);
        assert(error instanceof TypeError, `${what}: ${error ?? 'waits'}`);
        equal([lock, held, condition, semaphore, event].map(state).join(), before, what);
      }
    }
  }
});

test('what are options is taken: none, plain ones, and any object with a timeout or a signal', async () => {
  const { signal } = new AbortController();
  const none = Object.assign(Object.create(null), { timeout: 1 });
  const inherits = Object.create({ timeout: 1 });
  for (const [method, { blocks, call }] of Object.entries(WITH_OPTIONS)) {
    if (method === 'executeLocked') continue; // its callback must not run here
    for (const options of [undefined, {}, { timeout: undefined }, { timeout: 1 }, none, inherits, ...(blocks ? [] : [{ signal }, new AbortController()])]) {
      if (method.startsWith('Condition') && (!mayBlock && blocks || !(options?.timeout > 0))) continue;
      const [lock, held, condition, semaphore, event] = [new AsyncLock(), new AsyncLock(), new Condition(), new Semaphore(), new Event()];
      held.lock();
      event.notifyOne();
      semaphore.release();
      const outcome = await call({ lock, held, condition, semaphore, event }, options);
      assert(method.startsWith('Condition') ? outcome === false : outcome, method);
    }
  }
});

test('a callback, a lock or permits of another kind are a TypeError', async () => {
  const lock = new AsyncLock();
  const guard = lock.lock();
  for (const wrong of [undefined, null, 30, 'lock', {}]) {
    assert((await failure(() => lock.executeLocked(wrong))) instanceof TypeError);
    for (const other of [wrong, guard]) {
      assert((await failure(() => new Condition().waitAsync(other))) instanceof TypeError);
      if (mayBlock) assert((await failure(() => new Condition().wait(other))) instanceof TypeError);
    }
  }
  for (const wrong of [null, '1', 1n, {}, [1], true]) assert((await failure(() => new Semaphore().release(wrong))) instanceof TypeError);
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
  assert((await failure(() => semaphore.release())) instanceof RangeError);
  equal(semaphore.permits, Semaphore.MAX_PERMITS);
  (await semaphore.acquireAsync()).release();
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

test('300 notifies end 300 waits, and 299 end 299', async () => {
  for (const [waits, notifies] of [[255, 255], [256, 256], [300, 300], [300, 299]]) {
    const event = new Event();
    let ended = 0;
    for (let i = 0; i < waits; i++) event.waitAsync().then(() => ended++);
    for (let i = 0; i < notifies; i++) event.notifyOne();
    await until(() => ended >= notifies);
    await turn();
    equal(ended, notifies);
    assert(!event.isStored);
  }
});

test('a wakeup that another caller takes is made up for by the next notify, for each waiter', async () => {
  const event = new Event();
  const waits = [event.waitAsync(), event.waitAsync()];
  for (let i = 0; i < 2; i++) event.notifyOne();
  for (let i = 0; i < 2; i++) assert(event.tryWait()); // before the waiters run
  for (let i = 0; i < 2; i++) event.notifyOne();
  await Promise.all(waits);
  assert(!event.isStored);
});

test('notifies beyond those that wait are stored as one', async () => {
  const event = new Event();
  const waits = [event.waitAsync(), event.waitAsync()];
  for (let i = 0; i < 5; i++) event.notifyOne();
  await Promise.all(waits);
  assert(event.tryWait());
  assert(!event.tryWait());
  event.waitAsync();
  for (let i = 0; i < 5; i++) event.notifyOne();
  event.notifyAll();
  for (let i = 0; i < 5; i++) event.notifyOne();
  assert(event.tryWait());
  assert(!event.tryWait());
  const controller = new AbortController();
  const given = event.waitAsync({ signal: controller.signal });
  for (let i = 0; i < 5; i++) event.notifyOne();
  controller.abort();
  await failure(() => given);
  for (let i = 0; i < 5; i++) event.notifyOne();
  assert(event.tryWait());
  assert(!event.tryWait());
});

test('an event has so many waiters at most; one more is a RangeError that changes nothing', async () => {
  const event = new Event();
  const waits = Array.from({ length: Event.MAX_WAITERS }, () => event.waitAsync());
  const before = state(event);
  for (const wait of [() => event.waitAsync(), () => event.wait({ timeout: 0 })]) {
    const error = await failure(wait);
    assert(error instanceof RangeError && /4094 waiters/.test(error.message), error.message);
    equal(state(event), before);
  }
  for (let i = 0; i < Event.MAX_WAITERS + 3; i++) event.notifyOne();
  await Promise.all(waits);
  assert(event.tryWait());
  assert(!event.tryWait());
  equal(await event.waitAsync({ timeout: 0 }), false);
});

test('a waiter misses no notifyAll, however many there are before it runs', async () => {
  const words = new Int32Array(new SharedArrayBuffer(8));
  for (const [count, rounds] of [[1, 0], [255, 0], [256, 0], [512, 0], [256, -1], [256, -128], [1, 0x7fffffff]]) {
    const event = new Event(words);
    words[1] = rounds; // the number of notifyAll, near its limits
    const wait = event.waitAsync();
    for (let i = 0; i < count; i++) {
      if (i > 0) event.waitAsync(); // without one that waits again, a notifyAll has nothing to do
      event.notifyAll();
    }
    assert(await wait);
    equal(words[1], (rounds + count) | 0);
  }
});

test('a condition misses no notify where its number begins anew', async () => {
  for (const number of [-2, -4, 0x7ffffffe, 0]) {
    for (const notify of ['notifyOne', 'notifyAll']) {
      const lock = new AsyncLock();
      const words = new Int32Array(new SharedArrayBuffer(4));
      words[0] = number;
      const condition = new Condition(words);
      lock.lock();
      let ended = 0;
      const waits = [0, 1].map(() => {
        const wait = condition.waitAsync(lock).then(() => (ended++, lock.unlock()));
        lock.tryLock();
        return wait;
      });
      lock.unlock();
      condition[notify]();
      if (notify === 'notifyOne') {
        await waits[0];
        condition[notify]();
      }
      await Promise.all(waits);
      equal(ended, 2);
    }
  }
});

test('a condition that nobody waits for counts no notify', () => {
  const words = new Int32Array(new SharedArrayBuffer(4));
  const condition = new Condition(words);
  for (let i = 0; i < 3; i++) condition.notifyOne(), condition.notifyAll();
  equal(words[0], 0);
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
  assert(/without its lock held/.test((await failure(() => condition.waitAsync(lock))).message));
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
