//! The mutex from outside: the whole grid of names, its guards, its errors, and what it promises of turns.

#[path = "../common/mod.rs"]
mod common;
mod deadlines;
mod guards;
mod turns;

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use common::mutex::waiters;
use common::{Task, block_on, far, until};
use waitword::*;

/// What holds for every lock that one at a time can hold.
mod exclusive {
    crate::common::dropped::futures_are_dropped_at_any_moment!(waitword::Mutex<()>);
    crate::common::stress::on_every_executor!(crate::common::stress::OneAtATime<waitword::Mutex<()>>);
    crate::common::unpolled::unpolled_futures_keep_no_other_from_the_lock!(waitword::Mutex<()>);
}

/// Locks in one way, and says whether it did.
type Way = (&'static str, fn(&Arc<Mutex<()>>) -> bool);

fn is_held(mutex: &Mutex<()>) -> bool {
    mutex.is_locked() && mutex.try_lock().is_none()
}

#[test]
fn every_way_to_lock_locks_a_free_mutex_at_once() {
    let _nobody_may_wait = forbid_blocking();
    let ways: [Way; 17] = [
        ("lock", |m| is_held_by(m, m.lock())),
        ("try_lock", |m| is_held_by(m, m.try_lock().unwrap())),
        ("lock_for", |m| is_held_by(m, m.lock_for(Duration::MAX).unwrap())),
        ("lock_for, no time", |m| is_held_by(m, m.lock_for(Duration::ZERO).unwrap())),
        ("lock_until, too late", |m| is_held_by(m, m.lock_until(Instant::now()).unwrap())),
        ("lock_async", |m| is_held_by(m, ready(m.lock_async()))),
        ("lock_async_for", |m| is_held_by(m, ready(m.lock_async_for(Duration::MAX)).unwrap())),
        ("lock_async_for, no time", |m| is_held_by(m, ready(m.lock_async_for(Duration::ZERO)).unwrap())),
        ("lock_async_until, too late", |m| is_held_by(m, ready(m.lock_async_until(Instant::now())).unwrap())),
        ("lock_owned", |m| is_held_by(m, m.lock_owned())),
        ("try_lock_owned", |m| is_held_by(m, m.try_lock_owned().unwrap())),
        ("lock_owned_for", |m| is_held_by(m, m.lock_owned_for(Duration::ZERO).unwrap())),
        ("lock_owned_until", |m| is_held_by(m, m.lock_owned_until(Instant::now()).unwrap())),
        ("lock_owned_async", |m| is_held_by(m, ready(m.lock_owned_async()))),
        ("lock_owned_async_for", |m| is_held_by(m, ready(m.lock_owned_async_for(Duration::ZERO)).unwrap())),
        ("lock_owned_async_until", |m| {
            is_held_by(m, ready(m.lock_owned_async_until(Instant::now())).unwrap())
        }),
        ("lock, mapped", |m| is_held_by(m, MutexGuard::map(m.lock(), |unit| unit))),
    ];
    let mutex: Arc<Mutex<()>> = Arc::default();
    for (way, lock) in ways {
        assert!(lock(&mutex), "{way}");
        assert!(!mutex.is_locked() && mutex.try_lock().is_some(), "{way}");
        assert_eq!(Arc::strong_count(&mutex), 1, "{way}");
    }
}

fn is_held_by<G>(mutex: &Mutex<()>, _guard: G) -> bool {
    is_held(mutex)
}

fn ready<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it has to wait"),
    }
}

#[test]
fn every_way_to_wait_gets_the_mutex_when_it_is_released() {
    let ways: [Way; 12] = [
        ("lock", |m| is_held_by(m, m.lock())),
        ("lock_for", |m| is_held_by(m, m.lock_for(Duration::MAX).unwrap())),
        ("lock_until", |m| is_held_by(m, m.lock_until(far()).unwrap())),
        ("lock_async", |m| is_held_by(m, block_on(m.lock_async()))),
        ("lock_async_for", |m| is_held_by(m, block_on(m.lock_async_for(Duration::MAX)).unwrap())),
        ("lock_async_until", |m| is_held_by(m, block_on(m.lock_async_until(far())).unwrap())),
        ("lock_owned", |m| is_held_by(m, m.lock_owned())),
        ("lock_owned_for", |m| is_held_by(m, m.lock_owned_for(Duration::MAX).unwrap())),
        ("lock_owned_until", |m| is_held_by(m, m.lock_owned_until(far()).unwrap())),
        ("lock_owned_async", |m| is_held_by(m, block_on(m.lock_owned_async()))),
        ("lock_owned_async_for", |m| is_held_by(m, block_on(m.lock_owned_async_for(Duration::MAX)).unwrap())),
        ("lock_owned_async_until", |m| is_held_by(m, block_on(m.lock_owned_async_until(far())).unwrap())),
    ];
    let mutex: Arc<Mutex<()>> = Arc::default();
    for (way, wait) in ways {
        let guard = mutex.lock();
        thread::scope(|scope| {
            let waiter = scope.spawn(|| wait(&mutex));
            until(|| waiters(&mutex) == 1);
            assert!(!waiter.is_finished(), "{way}");
            drop(guard);
            assert!(waiter.join().unwrap(), "{way}");
        });
        assert!(!mutex.is_locked(), "{way}");
        assert_eq!((waiters(&mutex), Arc::strong_count(&mutex)), (0, 1), "{way}");
    }
}

#[test]
fn timed_forms_give_up_and_never_too_early() {
    let mutex = Arc::new(Mutex::new(()));
    let guard = mutex.lock();
    for timeout in [0, 1, 3, 15].map(Duration::from_millis) {
        type Form = fn(&Arc<Mutex<()>>, Duration) -> Option<LockError>;
        let forms: [Form; 8] = [
            |m, timeout| m.lock_for(timeout).err(),
            |m, timeout| m.lock_until(Instant::now() + timeout).err(),
            |m, timeout| m.lock_owned_for(timeout).err(),
            |m, timeout| m.lock_owned_until(Instant::now() + timeout).err(),
            |m, timeout| block_on(m.lock_async_for(timeout)).err(),
            |m, timeout| block_on(m.lock_async_until(Instant::now() + timeout)).err(),
            |m, timeout| block_on(m.lock_owned_async_for(timeout)).err(),
            |m, timeout| block_on(m.lock_owned_async_until(Instant::now() + timeout)).err(),
        ];
        for form in forms {
            let start = Instant::now();
            assert_eq!(form(&mutex, timeout), Some(LockError::TIMED_OUT));
            assert!(start.elapsed() >= timeout);
        }
    }
    assert_eq!((waiters(&mutex), Arc::strong_count(&mutex)), (0, 1));
    drop(guard);
    // The marks that they made before they left keep no other out.
    assert!(mutex.try_lock().is_some());
}

#[test]
fn a_timeout_is_counted_from_the_call() {
    let mutex = Mutex::new(());
    let _guard = mutex.lock();
    let mut late = Task::new(mutex.lock_async_for(Duration::from_millis(1)));
    let start = Instant::now();
    until(|| start.elapsed() > Duration::from_millis(1));
    assert!(matches!(late.poll(), Poll::Ready(Err(LockError::TimedOut(_)))));
}

/// A queued task for a mutex that is held, and when its time will be up.
fn soon_too_late(mutex: &Mutex<()>) -> (Task<'_, Result<MutexGuard<'_, ()>, LockError>>, Instant) {
    let mut timeout = Duration::from_millis(1);
    loop {
        let deadline = Instant::now() + timeout;
        let mut task = Task::new(mutex.lock_async_until(deadline));
        if task.poll().is_pending() {
            return (task, deadline);
        }
        // A slow machine.
        timeout *= 2;
    }
}

#[test]
fn a_mutex_that_is_free_when_the_time_is_up_is_locked() {
    let mutex = Mutex::new(());
    let guard = mutex.lock();
    let (mut late, deadline) = soon_too_late(&mutex);
    drop(guard);
    until(|| Instant::now() > deadline);
    assert!(matches!(late.poll(), Poll::Ready(Ok(_))));
}

#[test]
fn forbidden_to_block() {
    let mutex = Arc::new(Mutex::new(1));
    let guard = mutex.lock();
    let _must_not = forbid_blocking();
    let forbidden = |result: Result<(), LockError>| assert_eq!(result, Err(LockError::BlockingForbidden));
    assert!(mutex.try_lock().is_none() && mutex.try_lock_owned().is_none());
    forbidden(mutex.lock_for(Duration::MAX).map(drop));
    forbidden(mutex.lock_until(far()).map(drop));
    forbidden(mutex.lock_owned_for(Duration::from_secs(1)).map(drop));
    forbidden(mutex.lock_owned_until(far()).map(drop));
    let at_once = mutex.lock_for(Duration::ZERO).map(drop);
    assert_eq!(at_once, Err(LockError::TIMED_OUT), "that would not have waited");
    for (instead, lock) in [
        ("`lock_async`", (|m| drop(m.lock())) as fn(&Arc<Mutex<i32>>)),
        ("`lock_owned_async`", |m| drop(m.lock_owned())),
    ] {
        let panic = catch_unwind(AssertUnwindSafe(|| lock(&mutex))).unwrap_err();
        let message = panic.downcast_ref::<String>().map_or("", String::as_str);
        assert!(message.contains(instead), "{message}");
    }
    let mut task = Task::new(mutex.lock_async());
    assert!(task.poll().is_pending());
    drop(guard);
    assert!(task.poll().is_ready());
}

#[test]
#[should_panic(expected = "polled after it had ended")]
fn a_future_that_was_ready_is_not_polled_again() {
    let mutex = Mutex::new(());
    let mut task = Task::new(mutex.lock_async());
    assert!(task.poll().is_ready());
    let _ = task.poll();
}
