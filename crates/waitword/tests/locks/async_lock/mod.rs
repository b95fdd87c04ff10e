//! The lock on a word that scripts share: both corner cases of the article; and what only this lock has: the waiters recheck on their own,
//! woken or not.

mod corner_cases;

use std::pin::pin;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};

use waitword::word::*;
use waitword::*;

use crate::common::{Task, block_on, poll, until};

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
fn an_acquirer_that_may_not_wait_does_not_mark_the_lock() {
    let lock = AsyncLock::new();
    lock.lock();
    let _must_not = forbid_blocking();
    assert_eq!(lock.lock_for(Duration::MAX), Err(LockError::BlockingForbidden));
    assert_eq!(format!("{lock:?}"), "AsyncLock { state: locked }");
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
    assert_eq!(
        format!("{:?}", lock.lock_async().timeout(Duration::ZERO)),
        "LockAsync { waiting: false, .. }"
    );
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
        let mut task = Task::queued(lock.lock_async());
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
    let mut on_first = Task::queued(same.lock_async());
    let mut on_other = Task::queued(other.lock_async());
    assert_eq!((here.waiters(&one), there.waiters(&two)), (1, 1));
    assert_eq!((here.waiters(&two), there.waiters(&one), Table::global().waiters(&one)), (0, 0, 0));
    same.unlock().unwrap();
    assert!(on_first.is_woken() && !on_other.is_woken());
    assert!(on_first.poll().is_ready());
    other.unlock().unwrap();
    assert!(on_other.poll().is_ready());
}

/// The second race of `acquire`: a barging acquirer takes the lock from under an unpolled future, and knows nothing of
/// those behind it.
#[test]
fn a_recheck_restores_the_mark_that_a_barging_acquirer_cleared() {
    let word = AtomicI32::new(0);
    let lock = AsyncLock::on(&word);
    lock.lock();
    let mut unpolled = Task::queued(lock.lock_async());
    let mut behind = Task::queued(lock.lock_async());
    lock.unlock().unwrap();
    assert!(lock.try_lock());
    assert_eq!(format!("{lock:?}"), "AsyncLock { state: locked }", "the mark is lost");
    // Its alarm goes off; no release has woken it.
    until(|| behind.is_woken());
    assert!(behind.poll().is_pending());
    assert_eq!(format!("{lock:?}"), "AsyncLock { state: locked with waiters }");
    assert_eq!(Table::global().waiters(&word), 1, "it has kept its position");
    lock.unlock().unwrap();
    assert!(behind.is_woken(), "the barging acquirer has woken it");
    assert!(behind.poll().is_ready());
    lock.unlock().unwrap();
    assert!(unpolled.poll().is_ready());
}

#[test]
fn a_recheck_that_succeeds_leaves_the_queue() {
    let word = AtomicI32::new(0);
    let lock = AsyncLock::on(&word);
    lock.lock();
    let _unpolled = Task::queued(lock.lock_async());
    let mut behind = Task::queued(lock.lock_async());
    lock.unlock().unwrap();
    until(|| behind.is_woken());
    assert!(behind.poll().is_ready());
    assert_eq!(Table::global().waiters(&word), 0, "else a release would wake it in place of a waiter");
    lock.unlock().unwrap();
}

/// Held again by then, or not.
#[test]
fn a_notified_future_that_is_dropped_forwards_its_notify() {
    for is_held in [false, true] {
        let lock = AsyncLock::new();
        lock.lock();
        let dropped = Task::queued(lock.lock_async());
        let mut behind = Task::queued(lock.lock_async());
        lock.unlock().unwrap();
        assert!(dropped.is_woken());
        if is_held {
            assert!(lock.try_lock());
        }
        drop(dropped);
        if is_held {
            lock.unlock().unwrap();
        }
        assert!(behind.is_woken() && behind.poll().is_ready());
        lock.unlock().unwrap();
    }
}

#[test]
fn a_signal_of_another_user_of_the_word_is_a_recheck() {
    let word = AtomicI32::new(2);
    let lock = AsyncLock::on(&word);
    let mut task = Task::queued(lock.lock_async());
    assert_eq!(signal_one(&word), 1);
    assert!(task.is_woken() && task.poll().is_pending());
    word.store(0, Ordering::SeqCst);
    assert_eq!(signal_one(&word), 1, "it has kept its position");
    assert!(task.is_woken() && task.poll().is_ready());
    assert_eq!(Table::global().waiters(&word), 0);
}

#[test]
fn rechecks_in_vain_become_rare() {
    let lock = AsyncLock::new();
    lock.lock();
    let mut task = Task::new(lock.lock_async());
    let mut rest = STALL_TIMEOUT;
    for _ in 0..4 {
        let before = Instant::now();
        assert!(task.poll().is_pending());
        until(|| task.is_woken());
        assert!(before.elapsed() >= rest);
        rest *= 2;
    }
}
