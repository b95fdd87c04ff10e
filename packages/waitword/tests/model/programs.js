// Programs for the model, on the module under test or on a mutant of it.
// Word 8 counts who is inside, word 9 is data that the lock protects.
const INSIDE = 8;
const DATA = 9;

async function inside({ words }, most = 1) {
  if (Atomics.add(words, INSIDE, 1) >= most) throw new Error('one too many inside');
  Atomics.sub(words, INSIDE, 1);
}

const given = (promise) => promise.catch((error) => (error.name === 'AbortError' ? null : Promise.reject(error)));

export function programs({ AsyncLock, Semaphore, Event, Condition }) {
  const blocks = async (env) => {
    const lock = new AsyncLock(env.words);
    lock.lock();
    await inside(env);
    lock.unlock();
  };
  const blocksTimed = async (env) => {
    const guard = new AsyncLock(env.words).lock({ timeout: 10 });
    if (guard) await inside(env);
    guard?.release();
  };
  const awaits = async (env) => {
    const guard = await new AsyncLock(env.words).lockAsync();
    await inside(env);
    guard.release();
  };
  const gives = (options) => async (env) => {
    const guard = await given(new AsyncLock(env.words).lockAsync(options(env)));
    if (guard) await inside(env);
    guard?.release();
  };
  const aborts = gives((env) => ({ signal: env.signal() }));
  const expires = gives(() => ({ timeout: 10 }));
  // Gives up, and then waits again on the same lock: the second wait adopts the entry of the first.
  const adopts = async (env) => {
    const lock = new AsyncLock(env.words);
    const first = await given(lock.lockAsync({ signal: env.signal() }));
    first?.release();
    const second = await lock.lockAsync();
    await inside(env);
    second.release();
  };

  const releases = async ({ words }) => new Semaphore(words).release();
  const keeps = async ({ words }) => void new Semaphore(words).acquire();
  const acquires = (most) => async (env) => {
    const permit = new Semaphore(env.words).acquire();
    await inside(env, most);
    permit.release();
  };
  const acquiresAsync = (most, abortable) => async (env) => {
    const semaphore = new Semaphore(env.words);
    const permit = await given(semaphore.acquireAsync(abortable ? { signal: env.signal() } : {}));
    if (permit) await inside(env, most);
    permit?.release();
  };

  const notifiesOne = async ({ words }) => new Event(words).notifyOne();
  const notifiesAll = async ({ words }) => new Event(words).notifyAll();
  const waits = async ({ words }) => new Event(words).wait();
  const waitsAsync = async ({ words }) => new Event(words).waitAsync();
  const waitsAborts = async (env) => {
    if (await given(new Event(env.words).waitAsync({ signal: env.signal() }))) new Event(env.words).notifyOne();
  };
  // Begins to wait, and then says so. `whenTold` runs when so many have said it: they all began before it.
  const TOLD = 10;
  const begins = async ({ words }) => {
    const wait = new Event(words).waitAsync();
    Atomics.add(words, TOLD, 1);
    Atomics.notify(words, TOLD);
    await wait;
  };
  const whenTold = (count, ...programs) => async (env) => {
    for (let seen; (seen = Atomics.load(env.words, TOLD)) < count; ) Atomics.wait(env.words, TOLD, seen);
    for (const program of programs) await program(env);
  };
  // A wakeup, and takes it itself if the waiter that was notified has not.
  const takesBack = async ({ words }) => {
    const event = new Event(words);
    event.notifyOne();
    event.tryWait();
  };
  const takesBackAndNotifies = async ({ words }) => {
    const event = new Event(words);
    event.notifyOne();
    if (event.tryWait()) event.notifyOne();
  };
  // The event as a lock: its wakeup goes from one to the next.
  const passesOn = (wait) => async (env) => {
    await wait(env);
    await inside(env);
    await notifiesOne(env);
  };
  const twice = (first, second) => async (env) => {
    await first(env);
    await second(env);
  };

  // The lock is word 0, the condition word 1, the data word 9. Who finds the data there tells the next.
  const produces = (how) => async ({ words }) => {
    const lock = new AsyncLock(words);
    lock.lock();
    Atomics.add(words, DATA, 1);
    lock.unlock();
    new Condition(words, 1)[how]();
  };
  const consumes = async ({ words }) => {
    const lock = new AsyncLock(words);
    const condition = new Condition(words, 1);
    lock.lock();
    while (Atomics.load(words, DATA) === 0) condition.wait(lock);
    condition.notifyOne();
    lock.unlock();
  };
  const consumesAsync = (options) => async (env) => {
    const { words } = env;
    const lock = new AsyncLock(words);
    const condition = new Condition(words, 1);
    const guard = await lock.lockAsync();
    try {
      const given = options(env);
      while (Atomics.load(words, DATA) === 0) await condition.waitAsync(lock, given);
      condition.notifyOne();
    } catch (error) {
      if (error.name !== 'AbortError') throw error; // it tells nobody: the wakeup that it got has to be forwarded
    } finally {
      guard.release();
    }
  };
  const without = () => ({});
  const aborting = (env) => ({ signal: env.signal() });

  return {
    'lock: three block': { agents: [blocks, blocks, blocks] },
    'lock: two block, one awaits': { agents: [blocks, blocks, awaits] },
    'lock: one blocks, two await': { agents: [blocks, awaits, awaits] },
    'lock: one blocks, one blocks for a while, one awaits': { agents: [blocks, blocksTimed, awaits] },
    'lock: two block, one aborts': { agents: [blocks, blocks, aborts] },
    'lock: one blocks, one awaits, one aborts': { agents: [blocks, awaits, aborts] },
    'lock: one blocks twice, one aborts': { agents: [twice(blocks, blocks), blocks, aborts], preemptions: 3 },
    'lock: two block, one expires': { agents: [blocks, blocks, expires] },
    'lock: two block, one gives up and adopts': { agents: [blocks, blocks, adopts], preemptions: 3 },
    'semaphore: one permit for three': { agents: [acquires(1), acquires(1), acquiresAsync(1)], first: 2, preemptions: 2 },
    'semaphore: two permits for three': { agents: [acquires(2), acquires(2), acquiresAsync(2)], first: 4, preemptions: 2 },
    'semaphore: one aborts': { agents: [acquires(1), acquires(1), acquiresAsync(1, true)], first: 2, preemptions: 2 },
    'semaphore: two are released for two': { agents: [twice(releases, releases), keeps, keeps], preemptions: 3 },
    'semaphore: one acquires twice, one aborts': {
      agents: [twice(acquires(1), acquires(1)), acquires(1), acquiresAsync(1, true)],
      first: 2,
      preemptions: 3,
    },
    'semaphore: two are released, one aborts': {
      agents: [twice(releases, releases), acquires(2), acquiresAsync(2, true)],
      preemptions: 2,
    },
    'event: one notify, one waiter': { agents: [notifiesOne, waits] },
    'event: who was woken tells the next': { agents: [notifiesOne, twice(waits, notifiesOne), twice(waitsAsync, notifiesOne)], preemptions: 3 },
    'event: one aborts': { agents: [notifiesOne, twice(waits, notifiesOne), waitsAborts], preemptions: 2 },
    'event: two notifies, one aborts': {
      agents: [twice(notifiesOne, notifiesOne), twice(waits, notifiesOne), twice(waits, notifiesOne), waitsAborts],
      preemptions: 1,
    },
    'event: all, and then one': {
      agents: [twice(notifiesAll, notifiesOne), twice(waits, notifiesOne), twice(waitsAsync, notifiesOne), waitsAborts],
      preemptions: 1,
    },
    'event: one wakeup goes round': { agents: [passesOn(waits), passesOn(waits), passesOn(waitsAsync)], first: 1 << 12, preemptions: 2 },
    'event: two that wait and two notifies': { agents: [whenTold(2, notifiesOne, notifiesOne), begins, begins], preemptions: 2 },
    'event: a wakeup is taken by the notifier, which notifies again': { agents: [whenTold(2, takesBackAndNotifies, takesBackAndNotifies), begins, begins], preemptions: 2 },
    'event: a waiter that was woken in vain, and all': { agents: [whenTold(1, takesBack, notifiesAll, notifiesOne), begins, waits], preemptions: 3 },
    'event: all that began before': { agents: [whenTold(2, notifiesAll), begins, begins], preemptions: 3 },
    'condition: one at a time': { agents: [produces('notifyOne'), consumes, consumesAsync(without)], preemptions: 3 },
    'condition: all': { agents: [produces('notifyAll'), consumes, consumesAsync(without)], preemptions: 3 },
    'lock: a waiter dies': { agents: [blocks, blocks, awaits], mortal: [1], preemptions: 3 },
    'semaphore: a waiter dies': { agents: [acquires(1), acquires(1), acquiresAsync(1)], first: 2, mortal: [1], preemptions: 2 },
    'event: a waiter dies': { agents: [notifiesOne, twice(waits, notifiesOne), twice(waitsAsync, notifiesOne)], mortal: [1], preemptions: 3 },
    'condition: a waiter dies, another awaits': { agents: [produces('notifyOne'), consumes, consumesAsync(without)], mortal: [1], preemptions: 3 },
    'condition: a waiter dies, another blocks': { agents: [produces('notifyOne'), consumes, consumes], mortal: [1], preemptions: 3 },
    'condition: one aborts': { agents: [produces('notifyOne'), consumes, consumesAsync(aborting)], preemptions: 3 },
  };
}
