//! A process that forks: its child has no thread of the timer, and starts anew. Alone in its process, which has no other threads that wait.

#![cfg(all(unix, not(miri)))]

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use common::{Task, block_on, until};
use waitword::*;

unsafe extern "C" {
    fn fork() -> i32;
    fn waitpid(child: i32, status: *mut i32, options: i32) -> i32;
    fn kill(child: i32, signal: i32) -> i32;
    fn _exit(status: i32) -> !;
}

/// Runs `child` in a child, which is to end well.
fn in_a_child(child: impl FnOnce()) {
    // SAFETY: no other thread of this process holds a lock of the allocator or of this library for long, and the child leaves by `_exit`.
    let id = unsafe { fork() };
    assert!(id >= 0);
    if id == 0 {
        let panicked = catch_unwind(AssertUnwindSafe(child)).is_err();
        // SAFETY: it may be called at any time.
        unsafe { _exit(i32::from(panicked)) };
    }
    const WITHOUT_WAITING: i32 = 1;
    let mut status = 0;
    // SAFETY: `status` is there while it is written to.
    let ended = || unsafe { waitpid(id, &mut status, WITHOUT_WAITING) } == id;
    let in_time = catch_unwind(AssertUnwindSafe(|| until(ended)));
    if in_time.is_err() {
        // SAFETY: our child, which has not been waited for.
        unsafe { kill(id, 9) };
    }
    assert!(in_time.is_ok() && status == 0, "{status}");
}

fn deadlines_are_kept() {
    let mutex = Mutex::new(());
    let _guard = mutex.lock();
    for timeout in [0, 1, 5].map(Duration::from_millis) {
        assert_eq!(block_on(mutex.lock_async_for(timeout)).err(), Some(LockError::TIMED_OUT));
    }
}

fn a_future_that_nobody_polls_is_skipped() {
    let mutex = Mutex::new(());
    let guard = mutex.lock();
    let _never_polled = Task::queued(mutex.lock_async());
    let behind = Task::queued(mutex.lock_async());
    drop(guard);
    drop(behind.finish());
}

#[test]
fn a_child_keeps_deadlines_and_skips_futures_that_nobody_polls() {
    in_a_child(deadlines_are_kept);
    deadlines_are_kept();
    a_future_that_nobody_polls_is_skipped();
    for round in 0..30 {
        // Due at about the time of the fork.
        let mutex = Mutex::new(());
        let _guard = mutex.lock();
        let mut due: Vec<_> =
            (0..round).map(|at| Task::new(mutex.lock_async_for(Duration::from_micros(20 * at)))).collect();
        due.iter_mut().for_each(|task| drop(task.poll()));
        in_a_child(|| {
            a_future_that_nobody_polls_is_skipped();
            deadlines_are_kept();
            // In a child of a child, too.
            in_a_child(deadlines_are_kept);
        });
        deadlines_are_kept();
        a_future_that_nobody_polls_is_skipped();
    }
    // One that is pending across the fork ends in both processes.
    let mutex = Mutex::new(());
    let _guard = mutex.lock();
    let (across, _) = Task::queued_until(Duration::from_secs(1), |deadline| mutex.lock_async_until(deadline));
    let mut across = Some(across);
    in_a_child(|| {
        deadlines_are_kept();
        assert_eq!(across.take().unwrap().finish().err(), Some(LockError::TIMED_OUT));
    });
    assert_eq!(across.unwrap().finish().err(), Some(LockError::TIMED_OUT));
}
