//! The lock from outside: the whole grid of names, the errors, and both corner cases of the article.

#[path = "../common/mod.rs"]
mod common;
mod corner_cases;
mod exclusion;
mod unpolled;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;
use std::time::Duration;

use common::exclusive::{Exclusive, Unlocks};
use common::grid::{Ended, Got, Grid, opener, ways};
use common::{Task, block_on, poll};
use waitword::word::*;
use waitword::*;

/// What holds for every lock that one at a time can hold.
mod exclusive {
    crate::common::dropped::futures_are_dropped_at_any_moment!(waitword::AsyncLock);
}

fn async_lock() -> Grid<AsyncLock> {
    Grid {
        ways: ways! { AsyncLock:
            attempts [try_lock];
            blocks [lock, lock_for, lock_until => lock_async];
            awaits [lock_async, lock_async_for, lock_async_until];
        },
        open: Arc::default,
        stays_open: |_| true,
        closed: Arc::default,
        close: |lock| opener(Exclusive::lock(&**lock)),
        waiters: Exclusive::waiters,
    }
}

impl<'a> Got<'a, AsyncLock> for () {
    fn ended(self, lock: &'a Arc<AsyncLock>) -> Ended<'a> {
        let held = Unlocks(lock);
        assert!(lock.is_locked() && !lock.try_lock());
        Ok(Box::new(held))
    }
}

mod grid {
    crate::common::grid::the_whole_grid!(async_lock);
    crate::common::grid::the_whole_grid!(async_lock: threads_and_tasks_share_one_queue_and_recheck,);
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
fn an_acquirer_that_may_not_wait_does_not_mark_the_lock() {
    let lock = AsyncLock::new();
    lock.lock();
    let _must_not = forbid_blocking();
    assert_eq!(lock.lock_for(Duration::MAX), Err(LockError::BlockingForbidden));
    assert_eq!(format!("{lock:?}"), "AsyncLock { state: locked }");
}

#[test]
fn a_forbidden_lock_panics_at_its_caller_and_names_the_way_out() {
    let lock = AsyncLock::new();
    lock.lock();
    let place = Arc::new(std::sync::Mutex::new(None));
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
    assert_eq!((here.waiters(&two), there.waiters(&one), Table::global().waiters(&one)), (0, 0, 0));
    same.unlock().unwrap();
    assert!(on_first.is_woken() && !on_other.is_woken());
    assert!(on_first.poll().is_ready());
    other.unlock().unwrap();
    assert!(on_other.poll().is_ready());
}
