// What compiles, and what must not.
import { AsyncLock, Condition, Event, LockGuard, Permit, Semaphore } from 'waitword';

const lock = new AsyncLock(new SharedArrayBuffer(16), 1);
const words: SharedArrayBuffer = lock.buffer;

const guard: LockGuard = lock.lock();
const timed: LockGuard | null = lock.lock({ timeout: 1 });
// @ts-expect-error null at the deadline
const certain: LockGuard = lock.lock({ timeout: 1 });
const awaited: Promise<LockGuard> = lock.lockAsync({ signal: AbortSignal.timeout(5) });
const perhaps: Promise<LockGuard | null> = lock.lockAsync({ timeout: 5 });
const sum: Promise<number> = lock.executeLocked(async () => 2 + 2);
{
  using held = lock.tryLock();
  if (held) held.release();
}
export async function page(): Promise<void> {
  using held = await lock.lockAsync();
  await using also = await lock.lockAsync({ timeout: 1 });
  // @ts-expect-error blocking methods take no signal
  lock.lock({ signal: AbortSignal.timeout(1) });
  // @ts-expect-error memory that is not shared
  new Event(new ArrayBuffer(4));
  // @ts-expect-error guards are made by locks
  new LockGuard();
}
const notified: boolean = new Condition(words, 2).wait(lock, { timeout: 1 });
const woken: Promise<boolean> = new Event().waitAsync({ timeout: 1 });
const permit: Permit = new Semaphore().acquire();
export { awaited, certain, guard, notified, perhaps, permit, sum, timed, woken };
