//! Waits for a lock that is held: mutex, semaphore, readers-writer lock.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Instant;

use waitword::{AcquireError, Mutex, RwLock, RwLockUpgradableReadGuard, STALL_TIMEOUT, Semaphore};

use crate::common::exclusive::Exclusive;
use crate::common::{far, poll, until};
use crate::{SHORT, a_thread_allocates_nothing, allocates_nothing, allocations, alone, queued};

#[test]
fn a_wait_of_a_task_for_a_mutex_allocates_nothing() {
    let mutex = Arc::new(Mutex::new(()));
    let waits = || {
        let guard = mutex.lock();
        queued!(signalled: mutex.lock_async());
        queued!(timed: mutex.lock_async().deadline(far()));
        queued!(owned: mutex.lock_owned_async());
        queued!(_dropped: mutex.lock_owned_async().deadline(far()));
        drop(guard);
        drop(poll(signalled.as_mut()));
        drop(poll(timed.as_mut()));
        assert!(poll(owned.as_mut()).is_ready());
    };
    let _alone = alone();
    // The first starts the timer's thread.
    waits();
    for _ in 0..3 {
        assert_eq!(allocations(waits), 0);
        // Long enough for the watchdog to have stopped, so that the next wait starts it again.
        let end = Instant::now();
        until(|| end.elapsed() > 4 * STALL_TIMEOUT);
    }
}

#[test]
fn a_wait_of_a_thread_for_a_mutex_allocates_nothing() {
    let mutex = Arc::new(Mutex::new(()));
    let timed_out = AtomicBool::new(false);
    let guard = mutex.lock();
    let waits = || {
        assert!(mutex.lock_for(SHORT).is_err());
        timed_out.store(true, Ordering::SeqCst);
        drop(mutex.lock_owned());
    };
    a_thread_allocates_nothing(waits, || {
        until(|| timed_out.load(Ordering::SeqCst) && mutex.waiters() == 1);
        drop(guard);
    });
}

#[test]
fn a_wait_for_permits_allocates_nothing() {
    let semaphore = Arc::new(Semaphore::new(1));
    allocates_nothing(|| {
        let held = semaphore.acquire().unwrap();
        queued!(signalled: semaphore.acquire_many_async(2));
        queued!(owned: semaphore.acquire_owned_async());
        queued!(_dropped: semaphore.acquire_owned_async().deadline(far()));
        drop(held);
        // In vain: one is reserved for it now.
        assert!(poll(signalled.as_mut()).is_pending());
        semaphore.add_permits(1);
        assert!(poll(signalled.as_mut()).is_ready());
        semaphore.forget_permits(1);
        assert!(poll(owned.as_mut()).is_ready());
    });
    let (semaphore, timed_out) = (Semaphore::new(0), AtomicBool::new(false));
    let waits = || {
        assert_eq!(semaphore.acquire_for(SHORT).unwrap_err(), AcquireError::TimedOut);
        timed_out.store(true, Ordering::SeqCst);
        drop(semaphore.acquire().unwrap());
    };
    a_thread_allocates_nothing(waits, || {
        until(|| timed_out.load(Ordering::SeqCst) && semaphore.waiters() == 1);
        semaphore.add_permits(1);
    });
}

#[test]
fn a_wait_for_a_readers_writer_lock_allocates_nothing() {
    let lock = RwLock::new(0);
    allocates_nothing(|| {
        let held = lock.write();
        {
            queued!(reader: lock.read_async());
            queued!(_dropped: lock.write_async().deadline(far()));
            drop(held);
            assert!(poll(reader.as_mut()).is_ready());
        }
        let reader = lock.read();
        queued!(upgrade: RwLockUpgradableReadGuard::upgrade_async(lock.upgradable_read()));
        drop(reader);
        let Poll::Ready(writer) = poll(upgrade.as_mut()) else { panic!("the reader has left") };
        drop(writer);
    });
}
