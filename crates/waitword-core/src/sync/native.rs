//! What the standard library has on every platform except a browser's: a clock, random bits, and sleep for every thread.

pub(crate) use std::hash::RandomState;
#[cfg(not(waitword_loom))]
pub(crate) use std::thread::park;
pub use std::time::Instant;

use std::sync::{Mutex, MutexGuard, PoisonError};
#[cfg(not(waitword_loom))]
use std::thread::Thread;

/// What serves the deadlines, or stands by: a thread of the timer, or the program, which is called when an earlier deadline is set.
#[cfg(not(waitword_loom))]
#[derive(Clone)]
pub(crate) enum Timekeeper {
    Thread(Thread),
    Program(fn()),
}

#[cfg(not(waitword_loom))]
impl Timekeeper {
    pub(crate) fn unpark(&self) {
        match self {
            Self::Thread(thread) => thread.unpark(),
            Self::Program(rings) => rings(),
        }
    }
}

/// Parks until `deadline` at the latest; may return before it.
#[cfg(not(waitword_loom))]
pub(crate) fn park_until(deadline: Instant) {
    std::thread::park_timeout(deadline.saturating_duration_since(Instant::now()));
}

/// Whether the system lets this thread block.
#[inline(always)]
pub(crate) const fn can_block() -> bool {
    true
}

/// Locks it, poisoned or not.
#[inline(always)]
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Called before a shard's lock is taken: yields to threads that must not sleep for it. Here all may sleep.
#[inline(always)]
pub(crate) fn give_way() {}

/// Takes a lock on a thread that must not sleep for it. `None`: the thread may sleep.
#[inline(always)]
pub(crate) fn take_without_sleep<T>(_take: impl FnMut() -> Option<T>) -> Option<T> {
    None
}
