//! The locks that take part, behind one trait.
//!
//! A lock implements [`Lock`] once for each way to hold it: a mutex and a semaphore [`Exclusive`], a readers-writer lock
//! [`Shared`] as well. Everything is generic over the lock, so that what is measured is inlined as it would be in a program.
//! `peers.rs` is the table of the locks, `monitor.rs` that of mutexes with condition variables.

pub(crate) mod monitor;
pub(crate) mod peers;

use std::future::Future;

use crate::executor::block_on;
use crate::workload::Subject;

/// As a writer holds a lock, or as a permit of a semaphore is held.
pub(crate) enum Exclusive {}

/// As readers hold a lock.
pub(crate) enum Shared {}

/// A lock that threads and tasks wait for; a new semaphore has one permit. A lock for threads alone blocks the worker that polls a task; the future of a lock for
/// tasks alone is polled by a thread, which parks in between.
pub(crate) trait Lock<Mode = Exclusive>: Subject {
    /// Whether a task waits within its poll, and so makes all tasks of that worker wait.
    const BLOCKS_WORKER: bool = true;

    /// Releases the lock when dropped.
    type Guard<'a>;

    /// Never waits.
    fn try_acquire(&self) -> Option<Self::Guard<'_>>;

    #[inline]
    fn acquire(&self) -> Self::Guard<'_> {
        block_on(self.acquire_async())
    }

    #[inline]
    fn acquire_async(&self) -> impl Future<Output = Self::Guard<'_>> + Send {
        async { self.acquire() }
    }
}

pub(crate) trait Semaphore: Lock {
    fn with_permits(permits: usize) -> Self;

    /// Adds a permit; to forget one that was acquired removes it.
    fn add_permit(&self);
}
