//! The table of the locks: ours, their peers, and a lower bound for the time of any lock.

use std::future::Future;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

use super::{Exclusive, Lock, Semaphore, Shared};
use crate::workload::{OURS, Subject};

/// One row per lock: its name here and in the tables, its type, how to create one. Then, for each mode, the guard and how it is
/// acquired. Without `task` a task blocks its worker, without `thread` a thread polls the future.
macro_rules! locks {
    ($($Name:ident: $name:expr, $lock:ty = $new:expr, $($Mode:ident $guard:ty { $($way:ident |$this:ident| $result:expr),+ })+;)+) => {$(
        pub(crate) type $Name = $lock;

        impl Subject for $lock {
            const NAME: &'static str = $name;

            fn new() -> Self {
                $new
            }
        }

        $(impl Lock<$Mode> for $lock {
            type Guard<'a> = $guard;

            $(way! { $way $this $result })+
        })+
    )+
        #[cfg(test)]
        fn try_each_lock() {
            $($(try_out! { $Mode $lock })+)+
        }
    };
}

macro_rules! way {
    (tried $this:ident $result:expr) => {
        #[inline]
        fn try_acquire(&self) -> Option<Self::Guard<'_>> {
            let $this = self;
            $result
        }
    };
    (thread $this:ident $result:expr) => {
        #[inline]
        fn acquire(&self) -> Self::Guard<'_> {
            let $this = self;
            $result
        }
    };
    (task $this:ident $result:expr) => {
        const BLOCKS_WORKER: bool = false;

        #[inline]
        fn acquire_async(&self) -> impl Future<Output = Self::Guard<'_>> + Send {
            let $this = self;
            $result
        }
    };
}

#[cfg(test)]
macro_rules! try_out {
    (Exclusive $lock:ty) => {
        tests::excludes::<$lock>();
    };
    (Shared $lock:ty) => {
        tests::lets_readers_share::<$lock>();
    };
}

locks! {
    Waitword: OURS, waitword::Mutex<()> = Self::new(()),
        Exclusive waitword::MutexGuard<'a, ()> { tried |l| l.try_lock(), thread |l| l.lock(), task |l| l.lock_async() };
    ParkingLot: "parking_lot", parking_lot::Mutex<()> = Self::new(()),
        Exclusive parking_lot::MutexGuard<'a, ()> { tried |l| l.try_lock(), thread |l| l.lock() };
    Std: "std", std::sync::Mutex<()> = Self::new(()),
        Exclusive std::sync::MutexGuard<'a, ()> { tried |l| unless_taken(l.try_lock()), thread |l| unpoisoned(l.lock()) };
    Usync: "usync", usync::Mutex<()> = Self::new(()),
        Exclusive usync::MutexGuard<'a, ()> { tried |l| l.try_lock(), thread |l| l.lock() };
    // A mutex and a readers-writer lock.
    Saa: "saa", saa::Lock = Self::new(),
        Exclusive SaaWrite<'a> {
            tried |l| l.try_lock().is_ok().then(|| SaaWrite(l)),
            thread |l| { assert!(l.lock_sync(), "nobody poisons it"); SaaWrite(l) },
            task |l| async { assert!(l.lock_async().await, "nobody poisons it"); SaaWrite(l) }
        }
        Shared SaaRead<'a> {
            tried |l| l.try_share().is_ok().then(|| SaaRead(l)),
            thread |l| { assert!(l.share_sync(), "nobody poisons it"); SaaRead(l) },
            task |l| async { assert!(l.share_async().await, "nobody poisons it"); SaaRead(l) }
        };
    AsyncLock: "async-lock", async_lock::Mutex<()> = Self::new(()),
        Exclusive async_lock::MutexGuard<'a, ()> { tried |l| l.try_lock(), thread |l| l.lock_blocking(), task |l| l.lock() };
    Tokio: "tokio", tokio::sync::Mutex<()> = Self::new(()),
        Exclusive tokio::sync::MutexGuard<'a, ()> {
            tried |l| l.try_lock().ok(),
            thread |l| l.blocking_lock(),
            task |l| l.lock()
        };
    Maitake: "maitake-sync", maitake_sync::Mutex<()> = Self::new(()),
        Exclusive maitake_sync::MutexGuard<'a, ()> { tried |l| l.try_lock(), task |l| l.lock() };
    // In its fair mode, where an unlock is a handoff.
    FuturesIntrusive: "futures-intrusive", futures_intrusive::sync::Mutex<()> = Self::new((), true),
        Exclusive futures_intrusive::sync::MutexGuard<'a, ()> { tried |l| l.try_lock(), task |l| l.lock() };
    WaitwordRwLock: OURS, waitword::RwLock<()> = Self::new(()),
        Exclusive waitword::RwLockWriteGuard<'a, ()> { tried |l| l.try_write(), thread |l| l.write(), task |l| l.write_async() }
        Shared waitword::RwLockReadGuard<'a, ()> { tried |l| l.try_read(), thread |l| l.read(), task |l| l.read_async() };
    ParkingLotRwLock: "parking_lot", parking_lot::RwLock<()> = Self::new(()),
        Exclusive parking_lot::RwLockWriteGuard<'a, ()> { tried |l| l.try_write(), thread |l| l.write() }
        Shared parking_lot::RwLockReadGuard<'a, ()> { tried |l| l.try_read(), thread |l| l.read() };
    StdRwLock: "std", std::sync::RwLock<()> = Self::new(()),
        Exclusive std::sync::RwLockWriteGuard<'a, ()> { tried |l| unless_taken(l.try_write()), thread |l| unpoisoned(l.write()) }
        Shared std::sync::RwLockReadGuard<'a, ()> { tried |l| unless_taken(l.try_read()), thread |l| unpoisoned(l.read()) };
    UsyncRwLock: "usync", usync::RwLock<()> = Self::new(()),
        Exclusive usync::RwLockWriteGuard<'a, ()> { tried |l| l.try_write(), thread |l| l.write() }
        Shared usync::RwLockReadGuard<'a, ()> { tried |l| l.try_read(), thread |l| l.read() };
    AsyncLockRwLock: "async-lock", async_lock::RwLock<()> = Self::new(()),
        Exclusive async_lock::RwLockWriteGuard<'a, ()> {
            tried |l| l.try_write(),
            thread |l| l.write_blocking(),
            task |l| l.write()
        }
        Shared async_lock::RwLockReadGuard<'a, ()> { tried |l| l.try_read(), thread |l| l.read_blocking(), task |l| l.read() };
    TokioRwLock: "tokio", tokio::sync::RwLock<()> = Self::new(()),
        Exclusive tokio::sync::RwLockWriteGuard<'a, ()> {
            tried |l| l.try_write().ok(),
            thread |l| l.blocking_write(),
            task |l| l.write()
        }
        Shared tokio::sync::RwLockReadGuard<'a, ()> {
            tried |l| l.try_read().ok(),
            thread |l| l.blocking_read(),
            task |l| l.read()
        };
    WaitwordSemaphore: OURS, waitword::Semaphore = Self::with_permits(1),
        Exclusive waitword::SemaphorePermit<'a> {
            tried |l| l.try_acquire().ok(),
            thread |l| l.acquire().expect("nobody closes it"),
            task |l| async { l.acquire_async().await.expect("nobody closes it") }
        };
    SaaSemaphore: "saa", saa::Semaphore = Self::with_permits(1),
        Exclusive SaaPermit<'a> {
            tried |l| l.try_acquire().then(|| SaaPermit(l)),
            thread |l| { l.acquire_sync(); SaaPermit(l) },
            task |l| async { l.acquire_async().await; SaaPermit(l) }
        };
    AsyncLockSemaphore: "async-lock", async_lock::Semaphore = Self::with_permits(1),
        Exclusive async_lock::SemaphoreGuard<'a> {
            tried |l| l.try_acquire(),
            thread |l| l.acquire_blocking(),
            task |l| l.acquire()
        };
    TokioSemaphore: "tokio", tokio::sync::Semaphore = Self::with_permits(1),
        Exclusive tokio::sync::SemaphorePermit<'a> {
            tried |l| l.try_acquire().ok(),
            thread |l| l.blocking_acquire().expect("nobody closes it"),
            task |l| async { l.acquire().await.expect("nobody closes it") }
        };
    FuturesIntrusiveSemaphore: "futures-intrusive", futures_intrusive::sync::Semaphore = Self::with_permits(1),
        Exclusive futures_intrusive::sync::SemaphoreReleaser<'a> { tried |l| l.try_acquire(1), task |l| l.acquire(1) };
    // One compare-and-swap to lock, one swap to unlock, and no waiters: the minimum of an uncontended lock.
    CasAndSwap: "one CAS, one swap (limit)", AtomicU32 = Self::new(0),
        Exclusive Taken<'a> {
            tried |l| l.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).ok().map(|_| Taken(l)),
            // Only the uncontended case is measured.
            thread |l| loop { if let Some(taken) = l.try_acquire() { break taken } std::thread::yield_now() }
        };
}

macro_rules! semaphores {
    ($($semaphore:ty: |$permits:ident| $new:expr, |$this:ident| $add:expr;)+) => {$(
        impl Semaphore for $semaphore {
            fn with_permits($permits: usize) -> Self {
                $new
            }

            fn add_permit(&self) {
                let $this = self;
                $add
            }
        }
    )+
        #[cfg(test)]
        fn try_each_semaphore() {
            $(tests::counts::<$semaphore>();)+
        }
    };
}

semaphores! {
    waitword::Semaphore: |permits| Self::new(permits), |semaphore| semaphore.add_permits(1);
    saa::Semaphore: |permits| Self::with_permits(permits), |semaphore| { semaphore.release(); };
    async_lock::Semaphore: |permits| Self::new(permits), |semaphore| semaphore.add_permits(1);
    tokio::sync::Semaphore: |permits| Self::new(permits), |semaphore| semaphore.add_permits(1);
    futures_intrusive::sync::Semaphore: |permits| Self::new(true, permits), |semaphore| semaphore.release(1);
}

/// Guards for locks that have no guards of their own.
macro_rules! guards {
    ($($Guard:ident of $lock:ty: |$this:ident| $release:expr;)+) => {$(
        pub(crate) struct $Guard<'a>(&'a $lock);

        impl Drop for $Guard<'_> {
            #[inline]
            fn drop(&mut self) {
                let $this = self.0;
                $release;
            }
        }
    )+};
}

guards! {
    SaaWrite of saa::Lock: |lock| lock.release_lock();
    SaaRead of saa::Lock: |lock| lock.release_share();
    SaaPermit of saa::Semaphore: |semaphore| semaphore.release();
    Taken of AtomicU32: |lock| lock.swap(0, Ordering::Release);
}

/// Nothing here panics while it holds a lock, so poison can be ignored.
pub(crate) fn unpoisoned<G>(result: LockResult<G>) -> G {
    result.unwrap_or_else(PoisonError::into_inner)
}

fn unless_taken<G>(result: TryLockResult<G>) -> Option<G> {
    match result {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::thread;

    use super::*;
    use crate::executor::block_on;

    /// Two threads and two tasks contend. Each contender must exclude them from each other.
    pub(super) fn excludes<L: Lock>() {
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

    pub(super) fn lets_readers_share<L: Lock + Lock<Shared>>() {
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

    pub(super) fn counts<S: Semaphore>() {
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
    fn what_is_measured_is_a_lock() {
        try_each_lock();
    }

    #[test]
    fn there_are_as_many_permits_as_one_asks_for() {
        try_each_semaphore();
    }
}
