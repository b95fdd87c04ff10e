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
    const BLOCKS_WORKER: bool;

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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::peers::{
        AsyncLock, AsyncLockRwLock, AsyncLockSemaphore, FuturesIntrusive, FuturesIntrusiveSemaphore, Maitake,
        ParkingLot, ParkingLotRwLock, Saa, SaaSemaphore, Std, StdRwLock, Tokio, TokioRwLock, TokioSemaphore,
        Usync, UsyncRwLock, Waitword, WaitwordRwLock, WaitwordSemaphore,
    };
    use super::*;

    /// Two threads and two tasks take turns. What is measured has to be a lock.
    fn excludes<L: Lock>() {
        const TURNS: usize = 150;
        let (lock, occupied) = (L::new(), AtomicBool::new(false));
        let visit = |guard: L::Guard<'_>| {
            assert!(lock.try_acquire().is_none());
            assert!(!occupied.swap(true, Ordering::Relaxed), "{}: two at a time", L::NAME);
            thread::yield_now();
            occupied.store(false, Ordering::Relaxed);
            drop(guard);
        };
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| (0..TURNS).for_each(|_| visit(lock.acquire())));
                scope
                    .spawn(|| (0..TURNS).for_each(|_| block_on(async { visit(lock.acquire_async().await) })));
            }
        });
        assert!(lock.try_acquire().is_some());
    }

    #[test]
    fn one_at_a_time_holds_a_lock() {
        excludes::<AsyncLock>();
        excludes::<AsyncLockRwLock>();
        excludes::<AsyncLockSemaphore>();
        excludes::<FuturesIntrusive>();
        excludes::<FuturesIntrusiveSemaphore>();
        excludes::<Maitake>();
        excludes::<ParkingLot>();
        excludes::<ParkingLotRwLock>();
        excludes::<Saa>();
        excludes::<SaaSemaphore>();
        excludes::<Std>();
        excludes::<StdRwLock>();
        excludes::<Tokio>();
        excludes::<TokioRwLock>();
        excludes::<TokioSemaphore>();
        excludes::<Usync>();
        excludes::<UsyncRwLock>();
        excludes::<Waitword>();
        excludes::<WaitwordRwLock>();
        excludes::<WaitwordSemaphore>();
    }

    fn lets_readers_share<L: Lock + Lock<Shared>>() {
        let lock = L::new();
        let as_thread = || Lock::<Shared>::acquire(&lock);
        let as_task = || block_on(Lock::<Shared>::acquire_async(&lock));
        let readers = (as_thread(), as_task());
        assert!(Lock::<Shared>::try_acquire(&lock).is_some());
        assert!(Lock::<Exclusive>::try_acquire(&lock).is_none());
        drop(readers);
        let writer = Lock::<Exclusive>::acquire(&lock);
        assert!(Lock::<Shared>::try_acquire(&lock).is_none());
        drop(writer);
    }

    #[test]
    fn many_read_and_one_writes() {
        lets_readers_share::<AsyncLockRwLock>();
        lets_readers_share::<ParkingLotRwLock>();
        lets_readers_share::<Saa>();
        lets_readers_share::<StdRwLock>();
        lets_readers_share::<TokioRwLock>();
        lets_readers_share::<UsyncRwLock>();
        lets_readers_share::<WaitwordRwLock>();
    }

    fn counts<S: Semaphore>() {
        let semaphore = S::with_permits(2);
        let (first, second) = (semaphore.acquire(), block_on(semaphore.acquire_async()));
        assert!(semaphore.try_acquire().is_none());
        drop(first);
        assert!(semaphore.try_acquire().is_some());
        drop(second);
        let semaphore = S::with_permits(0);
        for _ in 0..3 {
            assert!(semaphore.try_acquire().is_none());
            semaphore.add_permit();
            std::mem::forget(semaphore.acquire());
        }
    }

    #[test]
    fn there_are_as_many_permits_as_one_asks_for() {
        counts::<AsyncLockSemaphore>();
        counts::<FuturesIntrusiveSemaphore>();
        counts::<SaaSemaphore>();
        counts::<TokioSemaphore>();
        counts::<WaitwordSemaphore>();
    }
}
