//! The condition variable, from threads and tasks.

#[path = "../common/mod.rs"]
mod common;
mod dropped;
mod owned;
mod room;
mod unpolled;

use std::task::Poll;
use std::time::{Duration, Instant};

use common::{Task, poll, until};
use waitword::{Condvar, LockError, Mutex, STALL_TIMEOUT, forbid_blocking};

/// FIFO; and a notify_all wakes no task that cannot have the mutex (wait morphing).
#[test]
fn notified_waiters_get_the_mutex_in_turn_and_one_is_woken_at_a_time() {
    let (mutex, changed) = (Mutex::new(()), Condvar::new());
    let mut waits: Vec<_> = (0..5).map(|_| Task::queued(changed.wait_async(mutex.lock()))).collect();
    assert!(!mutex.is_locked());
    let notified = Instant::now();
    assert_eq!(changed.notify_all(), 5);
    while !waits.is_empty() {
        // On a slow machine the watchdog may have signalled others, too.
        let assert_woken = |waits: &[Task<'_, _>], first: bool, why| {
            let woken: Vec<_> = waits.iter().map(Task::is_woken).collect();
            let expected: Vec<_> = (0..waits.len()).map(|waiter| waiter == 0 && first).collect();
            assert!(woken == expected || notified.elapsed() >= STALL_TIMEOUT, "{why}: {woken:?}");
        };
        assert_woken(&waits, true, "one is woken");
        let Poll::Ready(guard) = waits.remove(0).poll() else {
            panic!("it was signalled, and the mutex is free")
        };
        assert_woken(&waits, false, "none is woken while the mutex is held");
        drop(guard);
    }
}

/// A wait is queued before the mutex is free: what comes under the mutex after it, notifies it.
#[test]
fn a_wait_is_queued_before_the_mutex_is_free() {
    let (mutex, changed) = (Mutex::new(()), Condvar::new());
    let mut wait = Box::pin(changed.wait_async(mutex.lock()));
    assert!(mutex.try_lock().is_none(), "a wait that was not polled holds the mutex");
    assert!(!changed.notify_one());
    assert!(poll(wait.as_mut()).is_pending());
    let guard = mutex.try_lock().unwrap();
    assert!(changed.notify_one());
    assert!(poll(wait.as_mut()).is_pending(), "notified, and waits for the mutex");
    drop(guard);
    assert!(poll(wait.as_mut()).is_ready());
}

/// A notify that counted a wait is what it ends with, though its time is up before it gets the mutex.
#[test]
fn a_notify_in_time_counts_though_the_mutex_comes_late() {
    let (mutex, changed) = (Mutex::new(()), Condvar::new());
    let (mut wait, deadline) = Task::queued_until(Duration::from_millis(2), |deadline| {
        changed.wait_async(mutex.lock()).deadline(deadline)
    });
    let guard = mutex.lock();
    let notified = changed.notify_one();
    until(|| Instant::now() > deadline);
    assert!(wait.poll().is_pending(), "the mutex is held");
    drop(guard);
    let (_guard, result) = wait.finish();
    assert_eq!(result.is_ok(), notified);
}

#[test]
fn a_wait_where_blocking_is_forbidden_panics_and_keeps_the_mutex() {
    let (mutex, changed) = (Mutex::new(()), Condvar::new());
    let must_not = forbid_blocking();
    let mut guard = mutex.lock();
    assert_eq!(changed.wait_for(&mut guard, Duration::from_secs(3600)), Err(LockError::BlockingForbidden));
    changed.wait_while(&mut guard, |()| false);
    let panic =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| changed.wait(&mut guard))).unwrap_err();
    assert!(panic.downcast_ref::<String>().unwrap().contains("wait_async"));
    assert!(mutex.is_locked());
    drop((guard, must_not));
    assert!(!mutex.is_locked());
}

#[test]
fn one_mutex_at_a_time() {
    let (one, other, changed) = (Mutex::new(()), Mutex::new(()), Condvar::new());
    let wait = Task::queued(changed.wait_async(one.lock()));
    let mut guard = other.lock();
    let wrong = || changed.wait_for(&mut guard, Duration::ZERO);
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(wrong)).unwrap_err();
    assert!(panic.downcast_ref::<&str>().unwrap().contains("another mutex"));
    assert!(other.is_locked(), "and keeps it");
    drop(wait);
    assert_eq!(changed.wait_for(&mut guard, Duration::ZERO), Err(LockError::TimedOut));
}
