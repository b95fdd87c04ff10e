// The jobs of workers. `words` are a whole Int32Array of shared memory: the lock is word LOCK, and so on.
import { AsyncLock, Condition, Event, LONGEST_STALL_TIMEOUT, STALL_TIMEOUT, Semaphore } from '../src/index.js';

export const LOCK = 0;
export const COUNTER = 1; // plain: protected by what is tested
export const INSIDE = 2;
export const CONDITION = 4;
export const EVENT = 12; // two words
export const SEMAPHORE = 7;
export const READY = 8;
export const START = 9;
export const STOP = 10;
export const GIVEN_UP = 11;
export const WORDS = 16;

/** Nothing makes up for a lost wakeup in this agent from now on. Returns a function that ends this. */
export function disableRechecks() {
  const { wait } = Atomics;
  const { setTimeout } = globalThis;
  const isRecheck = (time) => time >= STALL_TIMEOUT && time <= LONGEST_STALL_TIMEOUT;
  Atomics.wait = (words, index, value, timeout) => wait.call(Atomics, words, index, value, isRecheck(timeout) ? Infinity : timeout);
  globalThis.setTimeout = (callback, delay, ...args) => (isRecheck(delay) ? {} : setTimeout(callback, delay, ...args));
  return () => {
    Atomics.wait = wait;
    globalThis.setTimeout = setTimeout;
  };
}

/** All agents begin together. */
export async function startTogether(words, agents) {
  if (Atomics.add(words, READY, 1) + 1 === agents) {
    Atomics.store(words, START, 1);
    Atomics.notify(words, START);
  }
  while (Atomics.load(words, START) === 0) await new Promise((resolve) => setTimeout(resolve));
}

function increment(words, spin = 0) {
  const seen = words[COUNTER];
  for (let i = 0; i < spin; i++) Atomics.load(words, COUNTER);
  words[COUNTER] = seen + 1;
}

/** Blocks for the lock, `rounds` times. */
export async function lockAndCount(words, agents, rounds, spin) {
  disableRechecks();
  const lock = new AsyncLock(words, LOCK);
  await startTogether(words, agents);
  for (let i = 0; i < rounds; i++) {
    const guard = lock.lock();
    increment(words, spin);
    guard.release();
  }
  return rounds;
}

/** Awaits the lock, `rounds` times in each of `tasks` tasks. */
export async function awaitAndCount(words, agents, rounds, spin, tasks = 1) {
  const lock = new AsyncLock(words, LOCK);
  await startTogether(words, agents);
  const task = async () => {
    for (let i = 0; i < rounds; i++) await lock.executeLocked(() => increment(words, spin));
  };
  await Promise.all(Array.from({ length: tasks }, task));
  return rounds * tasks;
}

/** Awaits the lock in several tasks, and gives up most of the time: by a deadline, or aborted. Returns how often it counted. */
export async function giveUpAndCount(words, agents, rounds, spin, tasks = 4) {
  const restore = disableRechecks();
  const lock = new AsyncLock(words, LOCK);
  await startTogether(words, agents);
  let counted = 0;
  const task = async (number) => {
    for (let i = 0; i < rounds; i++) {
      let guard = null;
      if ((i + number) % 2) {
        guard = await lock.lockAsync({ timeout: i % 3 });
      } else {
        const controller = new AbortController();
        const wait = lock.lockAsync({ signal: controller.signal }).catch(() => null);
        if (i % 3) await null;
        else await new Promise((resolve) => setTimeout(resolve));
        controller.abort();
        guard = await wait;
      }
      if (guard === null) continue;
      increment(words, spin);
      counted++;
      guard.release();
    }
  };
  await Promise.all(Array.from({ length: tasks }, (_, number) => task(number)));
  restore();
  return counted;
}

/** Blocks with a deadline. */
export async function tryForAndCount(words, agents, rounds, spin) {
  const lock = new AsyncLock(words, LOCK);
  await startTogether(words, agents);
  let counted = 0;
  for (let i = 0; i < rounds; i++) {
    const guard = lock.lock({ timeout: 0.05 });
    if (guard === null) continue;
    increment(words, spin);
    counted++;
    guard.release();
  }
  return counted;
}

/** Takes permits; checks that there are never more than `most` holders. */
export async function acquire(words, agents, rounds, most, blocking) {
  const semaphore = new Semaphore(words, SEMAPHORE);
  await startTogether(words, agents);
  for (let i = 0; i < rounds; i++) {
    const permit = blocking ? semaphore.acquire() : await semaphore.acquireAsync();
    if (Atomics.add(words, INSIDE, 1) >= most) throw new Error('more holders than permits');
    Atomics.sub(words, INSIDE, 1);
    permit.release();
  }
}

/** Takes items out of COUNTER until STOP, waiting on the condition. Returns how many. */
export async function consume(words, blocking) {
  const lock = new AsyncLock(words, LOCK);
  const condition = new Condition(words, CONDITION);
  for (let taken = 0; ; ) {
    const guard = blocking ? lock.lock() : await lock.lockAsync();
    while (words[COUNTER] === 0 && words[STOP] === 0) {
      if (blocking) condition.wait(lock);
      else await condition.waitAsync(lock);
    }
    if (words[COUNTER] === 0) {
      guard.release();
      return taken;
    }
    words[COUNTER]--;
    taken++;
    guard.release();
  }
}

/** Waits for the event, and counts how often it went on, until STOP. */
export async function listen(words, blocking) {
  const event = new Event(words, EVENT);
  Atomics.add(words, READY, 1);
  for (let times = 0; ; times++) {
    if (blocking) event.wait();
    else await event.waitAsync();
    if (Atomics.load(words, STOP)) return times;
    Atomics.add(words, COUNTER, 1);
  }
}

/** Blocks for the lock once, and tells when. */
export async function lockOnce(words, rechecks = false) {
  const restore = rechecks ? () => {} : disableRechecks();
  Atomics.add(words, READY, 1);
  new AsyncLock(words, LOCK).lock().release();
  restore();
}

/** Waits for the condition. READY is told under the lock, which is free when this waits. */
export async function waitOnce(words) {
  const lock = new AsyncLock(words, LOCK);
  const guard = lock.lock();
  Atomics.add(words, READY, 1);
  new Condition(words, CONDITION).wait(lock);
  guard.release();
}

/** Awaits the lock, and does not turn its event loop until the word START says so. */
export async function awaitAndStall(words) {
  const wait = new AsyncLock(words, LOCK).lockAsync();
  Atomics.add(words, READY, 1);
  Atomics.wait(words, START, 0);
  (await wait).release();
}

/** Takes the lock and holds it until START. */
export async function hold(words) {
  const guard = new AsyncLock(words, LOCK).lock();
  Atomics.add(words, READY, 1);
  Atomics.wait(words, START, 0);
  guard.release();
}
