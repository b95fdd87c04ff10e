//! The condition variable, from threads and tasks.

mod dropped;
mod unpolled;

use std::future::Future as _;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use waitword::word::Table;
use waitword::{Condvar, LockError, Mutex, STALL_TIMEOUT, forbid_blocking};
use waitword_core::observe::WaitsFor;

use crate::common::law::addresses;
use crate::common::{Task, far, poll, until, waiters};

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
fn a_wait_that_was_moved_is_seen_at_the_mutex() {
    let (mutex, changed) = (Mutex::new(()), Condvar::new());
    let _wait = Task::queued(changed.wait_async(mutex.lock()));
    let _held = mutex.lock();
    assert_eq!((changed.notify_all(), waiters(&changed)), (1, 0));
    let seen = Table::global().snapshot();
    let moved = seen.iter().find(|waiter| addresses(&mutex).contains(&waiter.word)).expect("it is there");
    assert_eq!(moved.waits_for, WaitsFor::Mutex);
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

/// The wait is all that is left of the two, and goes with them: queued for the condition, and for the mutex.
#[test]
fn a_wait_keeps_its_condition_variable_and_its_mutex_until_it_has_left_the_queues() {
    for notified in [false, true] {
        let (mutex, changed) = (Arc::new(Mutex::new(0)), Arc::new(Condvar::new()));
        let mut task = Task::queued(changed.wait_owned_async(mutex.lock_owned()).deadline(far()));
        let weak = (Arc::downgrade(&mutex), Arc::downgrade(&changed));
        drop((mutex, changed));
        let (mutex, changed) = (weak.0.upgrade().unwrap(), weak.1.upgrade().unwrap());
        if notified {
            let guard = mutex.lock_owned();
            assert!(changed.notify_one());
            drop(changed);
            assert!(task.poll().is_pending(), "it waits for the mutex");
            drop((mutex, guard));
            let (guard, result) = task.finish();
            assert_eq!((*guard, result), (0, Ok(())));
        } else {
            drop((mutex, changed, task));
        }
        assert!(weak.0.upgrade().is_none() && weak.1.upgrade().is_none());
    }
}

#[test]
fn debug_shows_the_state() {
    let (mutex, changed) = (Arc::new(Mutex::new(())), Arc::new(Condvar::new()));
    let wait = Box::pin(changed.wait_owned_async(mutex.lock_owned()));
    assert_eq!(format!("{wait:?}"), "CondvarWait { waiting: false, .. }");
    drop(wait);
    let mut cx = Context::from_waker(Waker::noop());
    let mut wait =
        Box::pin(changed.wait_while_owned_async(mutex.lock_owned(), |()| true).timeout(Duration::MAX));
    assert!(wait.as_mut().poll(&mut cx).is_pending());
    assert_eq!(format!("{wait:?}"), "CondvarWaitWhile { waiting: true, .. }");
}
