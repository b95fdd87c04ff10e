/// <reference lib="es2017.sharedmemory" />
/// <reference lib="esnext.disposable" />

/**
 * Locks on words of shared memory: workers block, a page awaits, in one queue.
 *
 * **Instances.** A lock is a word, or two, of memory that agents share. Each agent (the page, each worker) creates an instance on the same
 * word; all these instances are one lock. Create one instance per agent and word, and keep it: it reuses the entries that waits leave in the
 * engine's queue when they time out or are aborted.
 *
 * **Terminated workers.** Locks that a terminated worker held stay held. Another agent may release them. If the worker was waiting, a wakeup
 * may reach it instead of another waiter; the other waiters recheck, and continue after `LONGEST_STALL_TIMEOUT` at most.
 *
 * **Errors of arguments.** Each method throws a `TypeError` if `options` is a number, a string, `null`, a function, an array or a signal
 * instead of an options object, even if it would not have to wait. A method that returns a promise rejects with this error.
 *
 * **Blocking.** A method that blocks throws a `TypeError` if it would have to block and the agent must not (the main thread of a page).
 *
 * @module
 */

/** Memory that agents share, as 32-bit words. */
export type SharedWords = SharedArrayBuffer | Int32Array;

/** Options of a method that blocks. There is no signal, because nothing could abort a blocked agent. */
export interface BlockOptions {
  /** The longest wait, in milliseconds. By default there is no deadline. */
  timeout?: number;
}

/** Options of a method that awaits. */
export interface WaitOptions extends BlockOptions {
  /**
   * Aborts the wait: the promise rejects with `signal.reason`. After the lock was acquired, the signal has no effect. A wait with a signal
   * keeps a Node program alive.
   */
  signal?: Signal;
}

/** The part of `AbortSignal` that is used. Declared here, because a program without the types of the DOM or of Node has no `AbortSignal`. */
export interface Signal {
  readonly reason: any;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** The base class of guards, which hold something until `release`. Works with `using`: `using guard = lock.lock();`. */
declare class Release {
  protected constructor();
  /** Whether `release` has not been called yet. */
  readonly isHeld: boolean;
  /** Releases what this guard holds. Further calls have no effect. */
  release(): void;
  /** Calls `release`, at the end of a block with `using`. */
  [Symbol.dispose](): void;
}

/** A guard that holds an {@link AsyncLock}. */
export class LockGuard extends Release {}

/** A guard that holds a permit of a {@link Semaphore}. */
export class Permit extends Release {}

/**
 * A mutex on one word: 0 free, 1 locked, 2 locked and there may be waiters. Rust's `waitword::word::AsyncLock` has the same states, so Rust
 * and JavaScript can share the lock.
 *
 * **Fairness.** Waiters, blocked or awaiting, are woken in FIFO order. A release is not a handoff: if another agent acquires the lock first,
 * the woken waiter goes to the tail of the queue. So starvation is possible.
 *
 * **Stalled agents.** A woken agent may not return to its event loop. So waiters recheck: first after `STALL_TIMEOUT`, then at intervals that
 * double up to `LONGEST_STALL_TIMEOUT`, which bounds the delay. A blocked waiter that rechecks goes to the tail of the queue.
 *
 * **Deadlocks.** An agent that blocks for a lock that one of its own tasks holds waits for ever.
 */
export class AsyncLock {
  static readonly FREE: 0;
  static readonly LOCKED: 1;
  static readonly CONTENDED: 2;
  /** The number of words of a lock: 1. */
  static readonly WORDS: 1;

  /** Creates an instance on word `index` of `words`, or on new memory (`buffer`). A zeroed word is a free lock. */
  constructor(words?: SharedWords, index?: number);
  /** The memory, to send to other agents. */
  readonly buffer: SharedArrayBuffer;
  /** Whether the lock is held at this moment. */
  readonly isLocked: boolean;

  /** Attempts to acquire the lock without waiting. Returns `null` if it is held. */
  tryLock(): LockGuard | null;
  /** Acquires the lock, blocking this agent until it is available. */
  lock(): LockGuard;
  /**
   * Attempts to acquire the lock, blocking this agent for at most `timeout`. Returns `null` if the lock is still held at the deadline, never
   * earlier. A free lock is acquired even after the deadline.
   */
  lock(options: BlockOptions): LockGuard | null;
  /** Acquires the lock without blocking this agent. */
  lockAsync(options?: { timeout?: undefined; signal?: Signal }): Promise<LockGuard>;
  /** Attempts to acquire the lock within `timeout`, without blocking this agent. Resolves with `null` at the deadline. */
  lockAsync(options: WaitOptions): Promise<LockGuard | null>;
  /**
   * Releases the lock and wakes the first waiter. Any agent may release it on behalf of the holder.
   *
   * @throws Error if the lock is not held. Nothing has changed then.
   */
  unlock(): void;
  /**
   * Acquires the lock, calls `callback`, awaits its result, and releases the lock, also after an error. Resolves with the result of
   * `callback`. If the lock is free, `callback` is called before this method returns.
   *
   * @throws TimeoutError (a DOMException) at the deadline. `callback` was not called then.
   * @throws TypeError if `callback` is not a function. Nothing has changed then.
   */
  executeLocked<T>(callback: () => T, options?: WaitOptions): Promise<Awaited<T>>;
}

/**
 * A condition variable for an {@link AsyncLock}, on one word.
 *
 * ```js
 * const guard = await lock.lockAsync();
 * while (queue.isEmpty()) await notEmpty.waitAsync(lock);
 * ```
 *
 * Change the condition under the lock, then notify, before or after releasing the lock. Without waiters, a notify is one load.
 *
 * **Spurious wakeups.** Wait in a loop. After `LONGEST_STALL_TIMEOUT`, a wait also ends, with `true`, if any waiter was notified since it
 * began, because a terminated worker may have consumed a notify that was meant for this waiter.
 *
 * **Overflow.** The word counts the notifies that found a waiter, modulo 2³¹. A waiter misses a notify only if exactly 2³¹ notifies, or a
 * multiple, are counted while its agent does not run.
 */
export class Condition {
  /** The number of words of a condition: 1. */
  static readonly WORDS: 1;

  /** Creates an instance on word `index` of `words`, or on new memory. The word must be zeroed at first. */
  constructor(words?: SharedWords, index?: number);
  /** The memory, to send to other agents. */
  readonly buffer: SharedArrayBuffer;

  /**
   * Releases the lock, blocks this agent until notified, and acquires the lock again. Returns `true` if notified, `false` at the deadline.
   * The lock is held in both cases.
   *
   * @throws Error if the lock is not held.
   * @throws TypeError if `lock` is not an {@link AsyncLock}, for example if it is a guard.
   */
  wait(lock: AsyncLock, options?: BlockOptions): boolean;
  /**
   * Releases the lock, waits until notified, and acquires the lock again, without blocking this agent. Resolves with `true` if notified, with
   * `false` at the deadline. The lock is held when the promise settles, also when it rejects because of the signal.
   *
   * @throws Error if the lock is not held.
   * @throws TypeError if `lock` is not an {@link AsyncLock}.
   */
  waitAsync(lock: AsyncLock, options?: WaitOptions): Promise<boolean>;
  /** Wakes the first waiter in the queue. */
  notifyOne(): void;
  /** Wakes all waiters. */
  notifyAll(): void;
}

/**
 * A semaphore on one word: twice the number of free permits, plus one if there may be waiters. A zeroed word has no permits. Add permits with
 * `release(n)`.
 *
 * **Fairness.** As for {@link AsyncLock}: waiters are woken in FIFO order, and another agent may take a permit before the woken waiter does.
 */
export class Semaphore {
  /** The maximum number of free permits: 2³⁰ − 1. */
  static readonly MAX_PERMITS: number;
  /** The number of words of a semaphore: 1. */
  static readonly WORDS: 1;

  /** Creates an instance on word `index` of `words`, or on new memory. */
  constructor(words?: SharedWords, index?: number);
  /** The memory, to send to other agents. */
  readonly buffer: SharedArrayBuffer;
  /** The number of free permits at this moment. */
  readonly permits: number;

  /** Attempts to acquire a permit without waiting. Returns `null` if no permit is free. */
  tryAcquire(): Permit | null;
  /** Acquires a permit, blocking this agent until one is free. */
  acquire(): Permit;
  /** Attempts to acquire a permit, blocking this agent for at most `timeout`. Returns `null` at the deadline. */
  acquire(options: BlockOptions): Permit | null;
  /** Acquires a permit without blocking this agent. */
  acquireAsync(options?: { timeout?: undefined; signal?: Signal }): Promise<Permit>;
  /** Attempts to acquire a permit within `timeout`, without blocking this agent. Resolves with `null` at the deadline. */
  acquireAsync(options: WaitOptions): Promise<Permit | null>;
  /**
   * Adds permits (by default 1) and wakes as many waiters. The permits need not have been acquired before.
   *
   * @throws RangeError if more than `MAX_PERMITS` would be free, or if `permits` is negative or not an integer. Nothing has changed then.
   * @throws TypeError if `permits` is not a number.
   */
  release(permits?: number): void;
}

/**
 * An event on two words: notifies waiters, or stores one wakeup for the next waiter.
 *
 * Each `notifyOne` ends the wait of one waiter. If there are more notifies than waiters, the excess is stored as one wakeup, which ends the next
 * wait. A waiter whose worker was terminated is counted as a waiter until the next `notifyAll`.
 *
 * **Overflow.** The second word counts the calls of `notifyAll` that found a waiter, modulo 2³². A waiter misses one only if exactly 2³² calls,
 * or a multiple, are counted while its agent does not run.
 */
export class Event {
  /** The maximum number of waiters at a time, in all agents: 4094. */
  static readonly MAX_WAITERS: 4094;
  /** The number of words of an event: 2. */
  static readonly WORDS: 2;

  /** Creates an instance on words `index` and `index + 1` of `words`, or on new memory. The words must be zeroed at first. */
  constructor(words?: SharedWords, index?: number);
  /** The memory, to send to other agents. */
  readonly buffer: SharedArrayBuffer;
  /** Whether a wakeup is stored at this moment. */
  readonly isStored: boolean;

  /** Consumes the stored wakeup. Returns whether there was one. Does not wait. */
  tryWait(): boolean;
  /**
   * Blocks this agent until notified. Returns `true` if notified, `false` at the deadline.
   *
   * @throws RangeError if there are `MAX_WAITERS` waiters already. Nothing has changed then.
   */
  wait(options?: BlockOptions): boolean;
  /**
   * Waits until notified, without blocking this agent. Resolves with `true` if notified, with `false` at the deadline.
   *
   * @throws RangeError if there are `MAX_WAITERS` waiters already. Nothing has changed then.
   */
  waitAsync(options?: WaitOptions): Promise<boolean>;
  /** Wakes the first waiter in the queue, or stores a wakeup. */
  notifyOne(): void;
  /** Wakes all waiters. Stores no wakeup, and does not consume a stored one. */
  notifyAll(): void;
}

/** The time after which a waiter first rechecks without having been woken, in milliseconds: 20. */
export const STALL_TIMEOUT: number;
/** The longest interval between two rechecks, in milliseconds: 1000. */
export const LONGEST_STALL_TIMEOUT: number;
