// Locks on words of shared memory: workers block, a page awaits, in one queue.
//
// Read on in `async_lock.js` (three states), then `waits.js` (waiting, giving up, and the races).
export { AsyncLock, LockGuard } from './async_lock.js';
export { Condition } from './condition.js';
export { Event } from './event.js';
export { Permit, Semaphore } from './semaphore.js';
export { LONGEST_STALL_TIMEOUT, STALL_TIMEOUT } from './waits.js';
