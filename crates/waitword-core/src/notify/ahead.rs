//! Waking ahead: threads that wait for a lock are woken before its release signals them, to barge.
//!
//! A crowd that was moved to the queue of a mutex (`requeue.rs`) is signalled one by one: each thread has to wake up, some 10 µs, before
//! the next is signalled. While they hold the mutex for a moment each, the CPUs are idle nearly all of the time. So a few are woken at
//! once; and a thread that was woken so, and finds the mutex free, wakes two more before it takes it:
//!
//! ```text
//!   notifier                thread 2                 thread 3                 thread 4
//!   ────────────────        ──────────────────       ──────────────────       ─────────────────────
//!   moves 1 to 64
//!   signals 1
//!   wakes 2 and 3
//!                           free: wakes 4 and 5
//!                           takes it; leaves         held: sleeps again
//!                                                                             free: wakes 6 and 7 ...
//!   ...                                              signalled, when it is the head
//! ```
//! So the herd grows as long as it finds the mutex free, and one that finds it held does not grow: it has cost the wake-ups of the last
//! two or four, whose threads sleep again where they were in the queue. No thread is woken so twice.
//!
//! To be woken ahead is no signal: the waiter's state stays as it is, and the next signal goes where it would have gone. A thread that takes the mutex so
//! barges, with the rights of any running thread, and leaves the queue; if it was signalled meanwhile, it forwards that.
//! Tasks are not woken ahead: a worker would poll them in vain.

use crate::observe::Waking;
use crate::table::{Location, address, release};
use crate::waiter::wake::Wake;

/// For building locks: wakes up to two of the first threads that were moved to the queue of the word with others
/// (`requeue_while_equal`), are not signalled, and have not been woken so before. Returns how many.
///
/// They stay queued, as they were: a wake-up for no reason, to which the lock gives one. For a thread that was woken so and finds the
/// lock free, before it takes it.
///
/// Costs a fence and two loads without waiters on the word; otherwise takes the shard's lock, and looks at 32 waiters at most, and makes
/// a system call for each thread that sleeps. Runs nothing foreign, and does not panic.
///
/// ```
/// let word = std::sync::atomic::AtomicU32::new(0);
/// assert_eq!(waitword_core::wake_ahead(&word), 0, "nobody waits");
/// ```
pub fn wake_ahead<L: Location>(at: L) -> usize {
    let table = at.table();
    let key = table.key_of(address(&at));
    if table.shard(key).is_idle(key.hash) {
        return 0;
    }
    let mut locked = table.lock(key);
    let waking = Waking::now();
    let ahead = locked.ahead(key);
    release(locked);
    waking.signalled(key.address, ahead.iter().flatten().map(Wake::identity));
    ahead.into_iter().flatten().map(Wake::wake).count()
}
