//! The mutex from outside: the whole grid of names, its guards, its errors, and what it promises of turns.

#[path = "../common/mod.rs"]
mod common;
mod deadlines;
mod guards;
mod turns;

use std::sync::Arc;
use std::time::{Duration, Instant};

use common::Task;
use common::grid::{Got, Grid, got, opener, ways};
use common::mutex::waiters;
use waitword::*;

/// What holds for every lock that one at a time can hold.
mod exclusive {
    crate::common::dropped::futures_are_dropped_at_any_moment!(waitword::Mutex<()>);
    crate::common::stress::on_every_executor!(crate::common::stress::OneAtATime<waitword::Mutex<()>>);
    crate::common::unpolled::unpolled_futures_keep_no_other_from_the_lock!(waitword::Mutex<()>);
}

fn mutex() -> Grid<Mutex<()>> {
    Grid {
        ways: ways! { Mutex<()>:
            attempts [try_lock, try_lock_owned];
            blocks [lock, lock_for, lock_until => lock_async];
            blocks [lock_owned, lock_owned_for, lock_owned_until => lock_owned_async];
            awaits [lock_async, lock_async_for, lock_async_until];
            awaits [lock_owned_async, lock_owned_async_for, lock_owned_async_until];
        },
        open: Arc::default,
        stays_open: |_| true,
        closed: Arc::default,
        close: |mutex| opener(mutex.lock()),
        waiters,
    }
}

got! {
    Mutex<()>: MutexGuard<'a, ()>, OwnedMutexGuard<()> => |mutex, _guard| mutex.is_locked() && mutex.try_lock().is_none()
}

mod grid {
    crate::common::grid::the_whole_grid!(mutex);
    crate::common::grid::the_whole_grid!(mutex: threads_and_tasks_share_one_queue,);
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
#[should_panic(expected = "polled after it had ended")]
fn a_future_that_was_ready_is_not_polled_again() {
    let mutex = Mutex::new(());
    let mut task = Task::new(mutex.lock_async());
    assert!(task.poll().is_ready());
    let _ = task.poll();
}
