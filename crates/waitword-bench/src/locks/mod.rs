//! The locks that are measured, behind one trait.
//!
//! A lock implements [`Lock`] once for each way to hold it: a mutex and a semaphore [`Exclusive`], a readers-writer lock
//! [`Shared`] as well. Everything is generic over the lock, so that its methods are inlined as they would be in a program.
//! `peers.rs` is the table of the locks, `monitor.rs` that of mutexes with condition variables.

pub(crate) mod monitor;
pub(crate) mod peers;

use std::future::Future;

use crate::executor::block_on;
use crate::workload::Subject;

/// The mode of a writer, of a mutex, and of a semaphore's permit.
pub(crate) enum Exclusive {}

/// The mode of readers.
pub(crate) enum Shared {}

/// A lock for threads and tasks. A new semaphore has one permit. A lock for threads alone blocks the worker that polls a task. The future of a lock for
/// tasks alone is polled by a thread, which parks between polls.
pub(crate) trait Lock<Mode = Exclusive>: Subject {
    /// Whether a task waits within its poll, which blocks all tasks of that worker.
    const BLOCKS_WORKER: bool = true;

    /// Releases the lock when dropped.
    type Guard<'a>;

    /// Attempts to acquire without waiting.
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

    /// Adds a permit. Forgetting an acquired permit removes it.
    fn add_permit(&self);
}
