//! The lock from outside: the whole grid of names, the errors, and both corner cases of the article.

#[path = "../common/mod.rs"]
mod common;
mod corner_cases;
mod exclusion;
mod unpolled;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicI32, Ordering};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use common::{Task, block_on, far, poll, until};
use waitword::word::*;
use waitword::*;

/// What holds for every lock that one at a time can hold.
mod exclusive {
    crate::common::dropped::futures_are_dropped_at_any_moment!(waitword::AsyncLock);
}

/// How many are queued for the lock on `word`.
fn waiters(word: &AtomicI32) -> usize {
    Table::global().waiters(word)
}

#[test]
fn every_way_to_lock_takes_a_free_lock_at_once() {
    let _nobody_may_wait = forbid_blocking();
    static LOCK: AsyncLock = AsyncLock::new();
    let past = Instant::now();
    type Way = (&'static str, fn(Instant) -> bool);
    let ways: [Way; 9] = [
        ("lock", |_| {
            LOCK.lock();
            true
        }),
        ("try_lock", |_| LOCK.try_lock()),
        ("lock_for", |_| LOCK.lock_for(Duration::MAX).is_ok()),
        ("lock_for, no time", |_| LOCK.lock_for(Duration::ZERO).is_ok()),
        ("lock_until", |past| LOCK.lock_until(past).is_ok()),
        ("lock_async", |_| Task::new(LOCK.lock_async()).poll().is_ready()),
        ("lock_async_for", |_| Task::new(LOCK.lock_async_for(Duration::MAX)).poll() == Poll::Ready(Ok(()))),
        ("lock_async_for, no time", |_| {
            Task::new(LOCK.lock_async_for(Duration::ZERO)).poll() == Poll::Ready(Ok(()))
        }),
        ("lock_async_until", |past| Task::new(LOCK.lock_async_until(past)).poll() == Poll::Ready(Ok(()))),
    ];
    for (way, lock) in ways {
        assert!(lock(past), "{way}");
        assert!(LOCK.is_locked(), "{way}");
        assert!(!LOCK.try_lock(), "{way}");
        assert_eq!(LOCK.unlock(), Ok(()), "{way}");
        assert!(!LOCK.is_locked(), "{way}");
    }
}

#[test]
fn every_way_to_wait_gets_the_lock_when_it_is_released() {
    let word = AtomicI32::new(0);
    let lock = AsyncLock::on(&word);
    type Way = (&'static str, fn(&AsyncLock<&AtomicI32>) -> bool);
    let ways: [Way; 6] = [
        ("lock", |lock| {
            lock.lock();
            true
        }),
        ("lock_for", |lock| lock.lock_for(Duration::MAX).is_ok()),
        ("lock_until", |lock| lock.lock_until(far()).is_ok()),
        ("lock_async", |lock| {
            block_on(lock.lock_async());
            true
        }),
        ("lock_async_for", |lock| block_on(lock.lock_async_for(Duration::MAX)).is_ok()),
        ("lock_async_until", |lock| block_on(lock.lock_async_until(far())).is_ok()),
    ];
    for (way, wait) in ways {
        lock.lock();
        thread::scope(|scope| {
            let waiter = scope.spawn(|| wait(&lock) && lock.is_locked() && lock.unlock().is_ok());
            until(|| waiters(&word) == 1);
            assert!(!waiter.is_finished(), "{way}");
            lock.unlock().unwrap();
            assert!(waiter.join().unwrap(), "{way}");
        });
        assert!(!lock.is_locked(), "{way}");
        assert_eq!(waiters(&word), 0, "{way}");
    }
}

#[test]
fn an_unlock_too_many_is_an_error_and_changes_nothing() {
    let lock = AsyncLock::default();
    assert_eq!(lock.unlock(), Err(NotLocked));
    lock.lock();
    assert_eq!(lock.unlock(), Ok(()));
    assert_eq!(lock.unlock(), Err(NotLocked));
    assert!(lock.try_lock());
    assert_eq!(lock.unlock(), Ok(()));
}

#[test]
fn timed_forms_give_up_and_never_too_early() {
    let word = AtomicI32::new(0);
    let lock = AsyncLock::on(&word);
    lock.lock();
    for timeout in [0, 1, 3, 15].map(Duration::from_millis) {
        let start = Instant::now();
        assert_eq!(lock.lock_for(timeout), Err(LockError::TIMED_OUT));
        assert_eq!(lock.lock_until(start + timeout), Err(LockError::TIMED_OUT));
        assert!(start.elapsed() >= timeout);
        let start = Instant::now();
        assert_eq!(block_on(lock.lock_async_for(timeout)), Err(LockError::TIMED_OUT));
        assert_eq!(block_on(lock.lock_async_until(start + timeout)), Err(LockError::TIMED_OUT));
        assert!(start.elapsed() >= timeout);
    }
    assert_eq!(waiters(&word), 0);
    lock.unlock().unwrap();
}

/// A queued task for a lock that is held, and when its time will be up.
fn soon_too_late<'a>(lock: &'a AsyncLock<&AtomicI32>) -> (Task<'a, Result<(), LockError>>, Instant) {
    let mut timeout = Duration::from_millis(1);
    loop {
        let deadline = Instant::now() + timeout;
        let mut task = Task::new(lock.lock_async_until(deadline));
        if task.poll().is_pending() {
            return (task, deadline);
        }
        // A slow machine.
        timeout *= 2;
    }
}

#[test]
fn a_waiter_that_has_given_up_is_not_queued() {
    let word = AtomicI32::new(0);
    let lock = AsyncLock::on(&word);
    lock.lock();
    let (mut late, deadline) = soon_too_late(&lock);
    until(|| late.is_woken() && Instant::now() >= deadline);
    assert_eq!(late.poll(), Poll::Ready(Err(LockError::TIMED_OUT)));
    // Though the future is still there.
    assert_eq!(waiters(&word), 0);
    lock.unlock().unwrap();
    drop(late);
}

#[test]
fn a_lock_that_is_free_when_the_time_is_up_is_taken() {
    let word = AtomicI32::new(0);
    let lock = AsyncLock::on(&word);
    lock.lock();
    let (mut late, deadline) = soon_too_late(&lock);
    lock.unlock().unwrap();
    until(|| Instant::now() > deadline);
    assert_eq!(late.poll(), Poll::Ready(Ok(())));
    assert!(lock.is_locked());
}

#[test]
fn forbidden_to_block() {
    let lock = AsyncLock::new();
    lock.lock();
    let _must_not = forbid_blocking();
    assert!(!lock.try_lock());
    assert_eq!(lock.lock_for(Duration::from_secs(1)), Err(LockError::BlockingForbidden));
    assert_eq!(lock.lock_until(far()), Err(LockError::BlockingForbidden));
    assert_eq!(lock.lock_for(Duration::MAX), Err(LockError::BlockingForbidden));
    assert_eq!(lock.lock_for(Duration::ZERO), Err(LockError::TIMED_OUT), "that would not have waited");
    assert_eq!(
        format!("{lock:?}"),
        r#"AsyncLock { state: locked }"#,
        "an acquirer that may not wait has not marked it"
    );
    let mut task = Task::new(lock.lock_async());
    assert!(task.poll().is_pending());
    lock.unlock().unwrap();
    assert!(task.poll().is_ready());
}

#[test]
fn a_forbidden_lock_panics_at_its_caller_and_names_the_way_out() {
    use std::sync::{Arc, Mutex};

    let lock = AsyncLock::new();
    lock.lock();
    let place = Arc::new(Mutex::new(None));
    let (seen, this_thread) = (Arc::clone(&place), thread::current().id());
    let default_hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if thread::current().id() == this_thread {
            *seen.lock().unwrap() =
                panic.location().map(|location| (location.file().to_owned(), location.line()));
        } else {
            default_hook(panic);
        }
    }));
    let must_not = forbid_blocking();
    let line = line!() + 1;
    let panic = catch_unwind(AssertUnwindSafe(|| lock.lock())).unwrap_err();
    drop(must_not);
    let message = panic.downcast_ref::<String>().map_or("", String::as_str);
    assert!(message.contains("lock_async"), "{message}");
    assert_eq!(*place.lock().unwrap(), Some((file!().to_owned(), line)));
    lock.unlock().unwrap();
}

#[test]
fn debug_shows_the_state_and_never_waits() {
    let lock = AsyncLock::new();
    assert_eq!(format!("{lock:?}"), "AsyncLock { state: free }");
    lock.lock();
    assert_eq!(format!("{lock:?}"), "AsyncLock { state: locked }");
    let mut task = pin!(lock.lock_async());
    assert_eq!(format!("{task:?}"), "LockAsync { waiting: false, .. }");
    assert!(poll(task.as_mut()).is_pending());
    assert_eq!(format!("{task:?}"), "LockAsync { waiting: true, .. }");
    assert_eq!(format!("{lock:?}"), "AsyncLock { state: locked with waiters }");
    assert_eq!(format!("{:?}", lock.lock_async_for(Duration::ZERO)), "LockAsyncUntil { waiting: false, .. }");
}

#[test]
fn an_unlock_without_waiters_touches_no_queue() {
    struct NoQueue(AtomicI32);
    // SAFETY: the word is inline, and there is no table that could change.
    unsafe impl Location for NoQueue {
        type Word = AtomicI32;
        fn word(&self) -> &AtomicI32 {
            &self.0
        }
        fn table(&self) -> &Table {
            panic!("the queue was asked for");
        }
    }
    let lock = AsyncLock::on(NoQueue(AtomicI32::new(0)));
    lock.lock();
    assert!(!lock.try_lock());
    lock.unlock().unwrap();
    block_on(lock.lock_async());
    lock.unlock().unwrap();
    assert_eq!(block_on(lock.execute_locked(|| 1)), 1);
    assert_eq!(lock.unlock(), Err(NotLocked));
}

#[test]
fn a_strange_word_counts_as_held_and_comes_back_to_the_table() {
    for strange in [-1, 3, i32::MIN, i32::MAX] {
        let word = AtomicI32::new(strange);
        let lock = AsyncLock::on(&word);
        assert!(lock.is_locked() && !lock.try_lock());
        let mut task = Task::new(lock.lock_async());
        assert!(task.poll().is_pending());
        lock.unlock().unwrap();
        assert!(task.poll().is_ready());
        lock.unlock().unwrap();
        assert_eq!(word.load(Ordering::SeqCst), 0);
    }
}

#[test]
fn locks_on_one_word_are_one_lock_and_tables_keep_them_apart() {
    let (here, there) = (Table::new(), Table::new());
    let (one, two) = (AtomicI32::new(0), AtomicI32::new(0));
    let first = AsyncLock::on(here.at(&one));
    let same = AsyncLock::on(here.at(&one));
    let other = AsyncLock::on(there.at(&two));

    first.lock();
    assert!(same.is_locked() && !other.is_locked());
    other.lock();
    let mut on_first = Task::new(same.lock_async());
    let mut on_other = Task::new(other.lock_async());
    assert!(on_first.poll().is_pending() && on_other.poll().is_pending());
    assert_eq!((here.waiters(&one), there.waiters(&two)), (1, 1));
    assert_eq!((here.waiters(&two), there.waiters(&one), waiters(&one)), (0, 0, 0));
    same.unlock().unwrap();
    assert!(on_first.is_woken() && !on_other.is_woken());
    assert!(on_first.poll().is_ready());
    other.unlock().unwrap();
    assert!(on_other.poll().is_ready());
}

#[test]
fn threads_and_tasks_share_one_queue() {
    let word = AtomicI32::new(0);
    let lock = AsyncLock::on(&word);
    for kinds in 0..1_u32 << 5 {
        let turns = std::sync::Mutex::new(Vec::new());
        lock.lock();
        let start = Instant::now();
        thread::scope(|scope| {
            let mut threads = Vec::new();
            for place in 0..5 {
                let (lock, turns) = (&lock, &turns);
                threads.push(scope.spawn(move || {
                    if kinds >> place & 1 == 1 {
                        lock.lock();
                    } else {
                        block_on(lock.lock_async());
                    }
                    turns.lock().unwrap().push(place);
                    lock.unlock().unwrap();
                }));
                until(|| waiters(&word) == place + 1);
            }
            lock.unlock().unwrap();
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        });
        let turns = turns.into_inner().unwrap();
        // A waiter may recheck on its own before the woken one has come.
        if start.elapsed() < STALL_TIMEOUT {
            assert_eq!(turns, [0, 1, 2, 3, 4], "{kinds:b}");
        }
        assert_eq!(turns.len(), 5);
    }
}
