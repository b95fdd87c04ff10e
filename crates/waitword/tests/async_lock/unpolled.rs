//! See `common/unpolled.rs`; and what only this lock has: the waiters recheck on their own, woken or not.

use std::sync::atomic::AtomicI32;
use std::time::Instant;

use waitword::word::Table;
use waitword::{AsyncLock, STALL_TIMEOUT};

use crate::common::{Task, until};

// Without the test of positions: a woken waiter has left the queue.
crate::common::unpolled::unpolled_futures_keep_no_other_from_the_lock! { AsyncLock:
    select_whose_handler_wants_what_an_unpolled_branch_was_signalled_for,
    a_task_waits_behind_its_own_unpolled_future,
    a_set_of_futures_that_is_not_polled_meanwhile,
    a_stream_that_buffers_locks_while_its_body_wants_one,
    a_stream_that_buffers_locks_in_any_order,
    threads_behind_unpolled_futures,
    tasks_behind_unpolled_futures,
    a_leaked_future_keeps_no_other_from_the_lock,
}

/// The second race of `acquire`: a barging acquirer takes the lock from under an unpolled future, and knows nothing of those
/// behind it.
#[test]
fn a_recheck_restores_the_mark_that_a_barging_acquirer_cleared() {
    let word = AtomicI32::new(0);
    let lock = AsyncLock::on(&word);
    lock.lock();
    let mut unpolled = Task::new(lock.lock_async());
    let mut behind = Task::new(lock.lock_async());
    assert!(unpolled.poll().is_pending() && behind.poll().is_pending());
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
    let mut unpolled = Task::new(lock.lock_async());
    let mut behind = Task::new(lock.lock_async());
    assert!(unpolled.poll().is_pending() && behind.poll().is_pending());
    lock.unlock().unwrap();
    until(|| behind.is_woken());
    assert!(behind.poll().is_ready());
    assert_eq!(Table::global().waiters(&word), 0, "else a release would wake it in place of a waiter");
    lock.unlock().unwrap();
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
