//! Deadlines in tokio's tests: with the feature `tokio`, on its clock where that is paused, and on the system's everywhere else.
#![cfg(feature = "tokio")]

mod common;
#[path = "common/rows.rs"]
mod rows;

use std::future::Future;
use std::time::{Duration, Instant};

use tokio::runtime::Builder;
use tokio::time;
use waitword::*;

use common::law::{Call, Limit, Row, law, laws};

const HOUR: Duration = Duration::from_secs(3600);

/// Checks that this has taken about an hour of the virtual time, and none of ours.
async fn takes_an_hour<T>(future: impl Future<Output = T>) -> T {
    let (virtually, really) = (time::Instant::now(), Instant::now());
    let output = future.await;
    let (virtually, really) = (virtually.elapsed(), really.elapsed());
    assert!(virtually >= HOUR && virtually < HOUR + Duration::from_secs(1), "{virtually:?}");
    assert!(really < HOUR / 2, "{really:?}");
    output
}

laws! {
    [mutex reader upgradable_reader writer upgrade permit permits async_lock event wait_group barrier cell condvar]:
        a_timeout_expires_in_virtual_time;
}

fn a_timeout_expires_in_virtual_time<L>(row: &Row<L>) {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let lock = (row.closed)();
    let _open = (row.close)(&lock);
    for way in &row.ways {
        if let Call::Task(call, Limit::Timeout) = way.call {
            let ended = runtime.block_on(async { takes_an_hour(call(&lock, HOUR)).await.map(drop) });
            assert_eq!(ended, Err(LockError::TimedOut), "{}", way.name);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_deadline_is_a_time_of_the_paused_clock() {
    let event = Event::new();
    // The clocks are an hour apart.
    time::advance(HOUR).await;
    let deadline = (time::Instant::now() + HOUR).into_std();
    assert_eq!(takes_an_hour(event.wait_async().deadline(deadline)).await, Err(LockError::TimedOut));
    let past = time::Instant::now().into_std();
    assert_eq!(event.wait_async().deadline(past).await, Err(LockError::TimedOut));
    // One that never expires.
    let never = event.wait_async().timeout(Duration::MAX);
    assert!(time::timeout(HOUR, never).await.is_err());
}

/// A wait that is notified more than once before its deadline keeps to that.
#[tokio::test(start_paused = true)]
async fn the_deadline_of_a_loop_is_that_of_the_whole() {
    let (mutex, changed) = (Mutex::new(0), Condvar::new());
    let notifies = async {
        for _ in 0..3 {
            time::sleep(HOUR / 4).await;
            *mutex.lock_async().await += 1;
            changed.notify_all();
        }
        std::future::pending::<()>().await;
    };
    let waits = changed.wait_while_async(mutex.lock_async().await, |count| *count < 4).timeout(HOUR);
    let result = takes_an_hour(async {
        tokio::select! {
            (guard, result) = waits => (*guard, result),
            () = notifies => unreachable!(),
        }
    });
    assert_eq!(result.await, (3, Err(LockError::TimedOut)));
}

#[tokio::test(start_paused = true)]
async fn what_comes_before_the_virtual_deadline_is_had() {
    let mutex = Mutex::new(1);
    let held = mutex.lock();
    let releases = async {
        time::sleep(HOUR).await;
        drop(held);
    };
    let (guard, ()) = tokio::join!(mutex.lock_async().timeout(2 * HOUR), takes_an_hour(releases));
    assert_eq!(*guard.unwrap(), 1);
}

/// Also one without a timer, in which a `Sleep` would panic; and no runtime.
#[test]
fn a_clock_that_is_not_paused_is_the_systems() {
    let late = async || {
        let (event, start) = (Event::new(), Instant::now());
        let timeout = Duration::from_millis(3);
        assert_eq!(event.wait_async().timeout(timeout).await, Err(LockError::TimedOut));
        assert!(start.elapsed() >= timeout);
        let deadline = Instant::now() + timeout;
        assert_eq!(event.wait_async().deadline(deadline).await, Err(LockError::TimedOut));
        assert!(Instant::now() >= deadline);
    };
    Builder::new_current_thread().enable_time().build().unwrap().block_on(late());
    Builder::new_current_thread().build().unwrap().block_on(late());
    smol::block_on(late());
}

/// A future that got its deadline in such a runtime, and is polled elsewhere.
#[test]
fn a_virtual_deadline_outside_of_its_runtime_is_one_on_the_systems_clock() {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let event = Event::new();
    let inside = runtime.enter();
    let wait = event.wait_async().timeout(Duration::from_millis(3));
    drop(inside);
    assert_eq!(smol::block_on(wait), Err(LockError::TimedOut));
}
