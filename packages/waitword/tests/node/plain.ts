// What compiles without the types of a page or of Node.
import { AsyncLock, Condition, Event, LockGuard, Semaphore, Signal } from 'waitword';

const lock = new AsyncLock(new Int32Array(4), 1);
const guard: LockGuard | null = lock.lock({ timeout: 1 });
guard?.release();

export async function waits(signal: Signal): Promise<void> {
  (await lock.lockAsync({ signal })).release();
  (await new Semaphore().acquireAsync({ signal })).release();
  const sum: number = await lock.executeLocked(async () => 2 + 2, { timeout: MILLISECONDS, signal });
  const ended: boolean = (await new Event().waitAsync({ signal })) && (await new Condition().waitAsync(lock, { signal }));
  void [sum, ended];
}
const MILLISECONDS = 1;

// What is a TypeError is none here either.
export const wrong = [
  // @ts-expect-error
  () => lock.lock(30),
  // @ts-expect-error
  () => lock.lockAsync(30),
  // @ts-expect-error
  () => lock.executeLocked(() => 1, '30'),
  // @ts-expect-error
  () => new Semaphore().acquire(30),
  // @ts-expect-error
  () => new Semaphore().acquireAsync('30'),
  // @ts-expect-error
  () => new Event().wait(30),
  // @ts-expect-error
  () => new Event().waitAsync('30'),
  // @ts-expect-error
  () => new Condition().wait(lock, 30),
  // @ts-expect-error
  () => new Condition().waitAsync(lock, '30'),
  // @ts-expect-error
  (signal: Signal) => lock.lock({ signal }),
];
