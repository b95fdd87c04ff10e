/// <reference lib="es2017.sharedmemory" />
/// <reference lib="esnext.disposable" />

/**
 * Locks on words of shared memory: workers block, a page awaits, in one queue.
 *
 * A lock lies in memory that agents share. Each agent makes an instance on the same word; together they are one lock. Make one
 * instance for each agent and word, and keep it: what an instance leaves in the engine's queue, when a wait is given up, it uses again.
 *
 * A worker that is terminated keeps what it holds: another agent may release it. If it waits, a wakeup may go to it; the others recheck,
 * and go on after `LONGEST_STALL_TIMEOUT` at most.
 *
 * Each method throws a `TypeError` for options of another kind (a number, a string, `null`, a function, an array, a signal itself), even if
 * it would not have to wait; a method that returns a promise rejects with it. The methods that block throw a `TypeError` where the agent
 * must not block and would have to (the main thread of a page).
 *
 * @module
 */

/** Memory that agents share: its words of four bytes, by index. */
export type SharedWords = SharedArrayBuffer | Int32Array;

/** The deadline of a wait that blocks. Such a wait takes no signal, because nothing could abort it. */
export interface BlockOptions {
  /** The longest wait, in milliseconds. Without it the wait has no deadline. */
  timeout?: number;
}

/** The deadline of a wait that awaits, and what aborts it. */
export interface WaitOptions extends BlockOptions {
  /**
   * Aborts the wait: the promise rejects with `signal.reason`. A lock that was acquired before stays acquired. The wait keeps a program of
   * Node alive.
   */
  signal?: Signal;
}

/** What is used of an `AbortSignal`. Declared here, because a program without the types of a page or of Node has none. */
export interface Signal {
  readonly reason: any;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** What was acquired, until it is released: `using guard = lock.lock();`. */
declare class Release {
  protected constructor();
  /** Whether `release` was not called yet. */
  readonly isHeld: boolean;
  /** Releases. The second time it does nothing. */
  release(): void;
  /** Releases at the end of a `using` block. */
  [Symbol.dispose](): void;
}

/** Holds an {@link AsyncLock}. */
export class LockGuard extends Release {}

/** Holds a permit of a {@link Semaphore}. */
export class Permit extends Release {}

/**
 * A mutex on one word: 0 free, 1 locked, 2 locked and there may be waiters. Rust's `waitword::word::AsyncLock` has the same states, so
 * both are one lock on one word.
 *
 * **Fairness.** Waiters, blocked or awaiting, are woken in FIFO order. A release is no handoff: if another agent is faster, the woken
 * waiter goes to the tail of the queue. So starvation is possible. A waiter rechecks after `STALL_TIMEOUT`, then after intervals that
 * double up to `LONGEST_STALL_TIMEOUT`, so an agent that was woken and does not turn its event loop delays others for no longer. A
 * blocked waiter goes to the tail for that.
 *
 * **Deadlocks.** An agent that blocks for a lock that a task of its own holds waits for ever.
 */
export class AsyncLock {
  static readonly FREE: 0;
  static readonly LOCKED: 1;
  static readonly CONTENDED: 2;
  /** How many words a lock takes: 1. */
  static readonly WORDS: 1;

  /** The lock at word `index`. Without `words`: in memory of its own (`buffer`). A zeroed word is a free lock. */
  constructor(words?: SharedWords, index?: number);
  /** The memory, to send to other agents. */
  readonly buffer: SharedArrayBuffer;
  /** Whether it is held at this moment. */
  readonly isLocked: boolean;

  /** Acquires the lock if it is free. Never waits. `null` if it is held. */
  tryLock(): LockGuard | null;
  /** Acquires the lock, and blocks this agent until then. */
  lock(): LockGuard;
  /** As `lock`; `null` at the deadline, never before it. A lock that is free is acquired also after it. */
  lock(options: BlockOptions): LockGuard | null;
  /** Acquires the lock without blocking this agent. */
  lockAsync(options?: { timeout?: undefined; signal?: Signal }): Promise<LockGuard>;
  /** As `lockAsync`; `null` at the deadline. */
  lockAsync(options: WaitOptions): Promise<LockGuard | null>;
  /**
   * Releases the lock, and wakes the first waiter. Any agent may, on the holder's behalf.
   *
   * @throws Error if the lock is free; nothing has changed then.
   */
  unlock(): void;
  /**
   * Acquires the lock, runs `callback`, awaits what it returns, and releases the lock, also after an error. Brings the result of
   * `callback`. If the lock is free, `callback` runs before this returns.
   *
   * @throws TimeoutError (a DOMException) at the deadline; `callback` has not run then.
   * @throws TypeError if `callback` is not a function; nothing has changed then.
   */
  executeLocked<T>(callback: () => T, options?: WaitOptions): Promise<Awaited<T>>;
}

/**
 * A condition variable beside an {@link AsyncLock}, on one word. Wait in a loop, because a wait may end without a notify of its own: one
 * of more than `LONGEST_STALL_TIMEOUT` does if others were notified meanwhile, for a terminated worker may have taken its notify.
 *
 * ```js
 * const guard = await lock.lockAsync();
 * while (queue.isEmpty()) await notEmpty.waitAsync(lock);
 * ```
 *
 * Change what is waited for under the lock, then notify, under the lock or after it. Without waiters a notify is one load.
 *
 * The word counts the notifies that found a waiter, modulo 2³¹. A waiter misses them only if its agent does not run during exactly a
 * multiple of 2³¹ of them.
 */
export class Condition {
  /** How many words a condition takes: 1. */
  static readonly WORDS: 1;

  /** The condition at word `index`; zeroed at first. */
  constructor(words?: SharedWords, index?: number);
  /** The memory, to send to other agents. */
  readonly buffer: SharedArrayBuffer;

  /**
   * Releases the lock, blocks until notified, and acquires the lock again. False at the deadline; the lock is held then, too.
   *
   * @throws Error if the lock is not held.
   * @throws TypeError if `lock` is not an {@link AsyncLock} (but a guard, for example).
   */
  wait(lock: AsyncLock, options?: BlockOptions): boolean;
  /** As `wait`, without blocking this agent. The lock is held when the promise settles, also when it rejects. */
  waitAsync(lock: AsyncLock, options?: WaitOptions): Promise<boolean>;
  /** Wakes the waiter that has waited longest. */
  notifyOne(): void;
  /** Wakes all that wait. */
  notifyAll(): void;
}

/**
 * Permits, on one word: twice their number, plus one if there may be waiters. A zeroed word has none: add them with `release(n)`.
 * As with the lock, waiters are woken in FIFO order and others may be faster.
 */
export class Semaphore {
  /** The most permits that can be free: 2³⁰ − 1. */
  static readonly MAX_PERMITS: number;
  /** How many words a semaphore takes: 1. */
  static readonly WORDS: 1;

  constructor(words?: SharedWords, index?: number);
  /** The memory, to send to other agents. */
  readonly buffer: SharedArrayBuffer;
  /** How many permits are free at this moment. */
  readonly permits: number;

  /** Takes a permit if one is free. Never waits. */
  tryAcquire(): Permit | null;
  /** Takes a permit, and blocks this agent until then. */
  acquire(): Permit;
  /** As `acquire`; `null` at the deadline. */
  acquire(options: BlockOptions): Permit | null;
  /** Takes a permit without blocking this agent. */
  acquireAsync(options?: { timeout?: undefined; signal?: Signal }): Promise<Permit>;
  /** As `acquireAsync`; `null` at the deadline. */
  acquireAsync(options: WaitOptions): Promise<Permit | null>;
  /**
   * Adds permits, one by default, and wakes as many waiters. The permits need not have been taken.
   *
   * @throws RangeError if more than `MAX_PERMITS` would be free, or if `permits` is negative or not whole; nothing has changed then.
   * @throws TypeError if `permits` is not a number.
   */
  release(permits?: number): void;
}

/**
 * Notifies waiters, or stores one wakeup for the next. On two words, zeroed at first.
 *
 * Each `notifyOne` ends a wait of its own. Those beyond the number of waiters are stored as one wakeup, which ends the next wait. A waiter
 * whose worker was terminated counts as one until the next `notifyAll`.
 *
 * The second word counts the `notifyAll` that found a waiter, modulo 2³². A waiter misses them only if its agent does not run during
 * exactly a multiple of 2³² of them.
 */
export class Event {
  /** The most waiters that an event can have at a time, in all agents: 4094. */
  static readonly MAX_WAITERS: 4094;
  /** How many words an event takes: 2. */
  static readonly WORDS: 2;

  /** The event at words `index` and `index + 1`; zeroed at first. */
  constructor(words?: SharedWords, index?: number);
  /** The memory, to send to other agents. */
  readonly buffer: SharedArrayBuffer;
  /** Whether a wakeup is stored at this moment. */
  readonly isStored: boolean;

  /** Takes the stored wakeup, and returns whether there was one. */
  tryWait(): boolean;
  /**
   * Blocks until notified. False at the deadline.
   *
   * @throws RangeError if `MAX_WAITERS` wait already; nothing has changed then.
   */
  wait(options?: BlockOptions): boolean;
  /** As `wait`, without blocking this agent. */
  waitAsync(options?: WaitOptions): Promise<boolean>;
  /** Wakes the waiter that has waited longest, or stores a wakeup. */
  notifyOne(): void;
  /** Wakes all waiters. Stores nothing, and keeps a stored wakeup. */
  notifyAll(): void;
}

/** After how many milliseconds a waiter first rechecks without having been woken: 20. */
export const STALL_TIMEOUT: number;
/** The longest time between two rechecks, in milliseconds: 1000. */
export const LONGEST_STALL_TIMEOUT: number;
