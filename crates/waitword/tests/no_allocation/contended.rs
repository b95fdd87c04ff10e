//! Waits for a lock that is held: mutex, semaphore, readers-writer lock.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use waitword::word::Parker;
use waitword::{AcquireError, Mutex, RwLock, RwLockUpgradableReadGuard, STALL_TIMEOUT, Semaphore};

use crate::common::mutex::waiters;
use crate::common::{far, until};
use crate::{allocations, alone, make_this_threads_waker};

#[test]
fn a_wait_of_a_task_for_a_mutex_allocates_nothing() {
    let _alone = alone();
    let mutex = Arc::new(Mutex::new(()));
    let mut cx = Context::from_waker(Waker::noop());
    let mut wait = || {
        let guard = mutex.lock();
        let mut signalled = pin!(mutex.lock_async());
        assert!(signalled.as_mut().poll(&mut cx).is_pending());
        let mut timed = pin!(mutex.lock_async_until(far()));
        assert!(timed.as_mut().poll(&mut cx).is_pending());
        let mut owned = pin!(mutex.lock_owned_async());
        assert!(owned.as_mut().poll(&mut cx).is_pending());
        let mut dropped = pin!(mutex.lock_owned_async_until(far()));
        assert!(dropped.as_mut().poll(&mut cx).is_pending());
        drop(guard);
        drop(signalled.as_mut().poll(&mut cx));
        drop(timed.as_mut().poll(&mut cx));
        assert!(owned.as_mut().poll(&mut cx).is_ready());
    };
    // The first starts the timer's thread.
    wait();
    for _ in 0..3 {
        assert_eq!(allocations(&mut wait), 0);
        // Long enough for the watchdog to have stopped, so that the next wait starts it again.
        let end = Instant::now();
        until(|| end.elapsed() > 4 * STALL_TIMEOUT);
    }
}

#[test]
fn a_wait_of_a_thread_for_a_mutex_allocates_nothing() {
    let _alone = alone();
    let mutex = Arc::new(Mutex::new(()));
    let timed_out = AtomicBool::new(false);
    let guard = mutex.lock();
    let counted = thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            let give_up = || assert!(mutex.lock_for(Duration::from_micros(10)).is_err());
            make_this_threads_waker();
            allocations(|| {
                give_up();
                timed_out.store(true, Ordering::SeqCst);
                drop(mutex.lock_owned());
            })
        });
        until(|| timed_out.load(Ordering::SeqCst) && waiters(&mutex) == 1);
        drop(guard);
        waiter.join().unwrap()
    });
    assert_eq!(counted, 0);
}

#[test]
fn a_wait_for_permits_allocates_nothing() {
    let semaphore = Arc::new(Semaphore::new(1));
    let mut cx = Context::from_waker(Waker::noop());
    let mut wait = || {
        let held = semaphore.acquire().unwrap();
        let mut signalled = pin!(semaphore.acquire_many_async(2));
        assert!(signalled.as_mut().poll(&mut cx).is_pending());
        let mut owned = pin!(semaphore.acquire_owned_async());
        assert!(owned.as_mut().poll(&mut cx).is_pending());
        let mut dropped = pin!(semaphore.acquire_owned_async_until(far()));
        assert!(dropped.as_mut().poll(&mut cx).is_pending());
        drop(held);
        // In vain: one is reserved for it now.
        assert!(signalled.as_mut().poll(&mut cx).is_pending());
        semaphore.add_permits(1);
        assert!(signalled.as_mut().poll(&mut cx).is_ready());
        semaphore.forget_permits(1);
        assert!(owned.as_mut().poll(&mut cx).is_ready());
    };
    // The first starts the timer's thread.
    wait();
    assert_eq!(allocations(wait), 0);
    let semaphore = Semaphore::new(0);
    let timed_out = AtomicBool::new(false);
    let counted = thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            let give_up = || {
                assert_eq!(
                    semaphore.acquire_for(Duration::from_micros(10)).unwrap_err(),
                    AcquireError::TIMED_OUT
                )
            };
            // Makes the thread's waker. (The first time may be up before it is asked for.)
            Parker::current();
            allocations(|| {
                give_up();
                timed_out.store(true, Ordering::SeqCst);
                drop(semaphore.acquire().unwrap());
            })
        });
        until(|| timed_out.load(Ordering::SeqCst) && crate::common::semaphore::waiters(&semaphore) == 1);
        semaphore.add_permits(1);
        waiter.join().unwrap()
    });
    assert_eq!(counted, 0);
}

#[test]
fn a_wait_for_a_readers_writer_lock_allocates_nothing() {
    let _alone = alone();
    let lock = RwLock::new(0);
    let mut cx = Context::from_waker(Waker::noop());
    let mut waits = || {
        let held = lock.write();
        {
            let mut reader = pin!(lock.read_async());
            assert!(reader.as_mut().poll(&mut cx).is_pending());
            let mut dropped = pin!(lock.write_async_until(far()));
            assert!(dropped.as_mut().poll(&mut cx).is_pending());
            drop(held);
            assert!(reader.as_mut().poll(&mut cx).is_ready());
        }
        let reader = lock.read();
        let mut upgrade = pin!(RwLockUpgradableReadGuard::upgrade_async(lock.upgradable_read()));
        assert!(upgrade.as_mut().poll(&mut cx).is_pending());
        drop(reader);
        let Poll::Ready(writer) = upgrade.as_mut().poll(&mut cx) else { panic!("the reader has left") };
        drop(writer);
    };
    // The first starts the timer's thread.
    waits();
    assert_eq!(allocations(waits), 0);
}
