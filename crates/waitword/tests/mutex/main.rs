//! The mutex from outside: the whole grid of names, its guards, its errors, and what it promises of turns.

#[path = "../common/mod.rs"]
mod common;
mod guards;
mod turns;

use std::ops::Deref;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use common::grid::{Got, Grid, got, opener, ways};
use common::mutex::waiters;
use common::{PlainCounter, Task, block_on};
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
    crate::common::grid::the_whole_grid!(exclusive mutex);
}

#[test]
#[should_panic(expected = "polled after it had ended")]
fn a_future_that_was_ready_is_not_polled_again() {
    let mutex = Mutex::new(());
    let mut task = Task::new(mutex.lock_async());
    assert!(task.poll().is_ready());
    let _ = task.poll();
}

const DEADLINES: u64 = 5_000;

/// Also between a signal and its acknowledgement.
#[test]
fn deadlines_that_pass_at_any_moment_lose_no_signal() {
    let mutex = Arc::new(Mutex::new(PlainCounter::default()));
    let entered: u64 = thread::scope(|scope| {
        let threads = (0..3).map(|_| scope.spawn(|| as_thread(&mutex))).collect::<Vec<_>>();
        let tasks = (0..3).map(|_| scope.spawn(|| block_on(as_task(&mutex)))).collect::<Vec<_>>();
        threads.into_iter().chain(tasks).map(|each| each.join().unwrap()).sum()
    });
    assert_eq!(mutex.lock().get(), entered);
}

fn as_thread(mutex: &Mutex<PlainCounter>) -> u64 {
    let round = |round| match round % 2 {
        0 => entered(mutex.lock_for(short(round))),
        _ => entered(Ok(mutex.lock())),
    };
    (0..DEADLINES).map(round).sum()
}

async fn as_task(mutex: &Arc<Mutex<PlainCounter>>) -> u64 {
    let mut sum = 0;
    for round in 0..DEADLINES {
        sum += match round % 3 {
            0 => entered(mutex.lock_async_for(short(round)).await),
            1 => entered(mutex.lock_owned_async_for(short(round)).await),
            _ => entered(Ok(mutex.lock_async().await)),
        };
    }
    sum
}

fn short(round: u64) -> Duration {
    Duration::from_micros(round % 40)
}

/// How often the counter was incremented by this.
fn entered(locked: Result<impl Deref<Target = PlainCounter>, LockError>) -> u64 {
    match locked {
        Ok(counter) => {
            counter.increment();
            1
        }
        Err(error) => {
            assert_eq!(error, LockError::TIMED_OUT);
            0
        }
    }
}
