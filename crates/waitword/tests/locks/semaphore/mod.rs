//! The semaphore: counts, order, errors; by threads, tasks, and both.

mod permits;
mod turns;
mod unpolled;

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use waitword::{AcquireError, Closed, Semaphore, TryAcquireError, forbid_blocking};

use crate::common::{Panics, Task, block_on, far, until, waiters};

const MAX: usize = Semaphore::MAX_PERMITS;
const MOMENT: Duration = Duration::from_millis(1);

#[test]
fn any_count_up_to_the_maximum() {
    assert_eq!(MAX, usize::MAX >> 3);
    let semaphore = Semaphore::new(MAX);
    assert_eq!(semaphore.available_permits(), MAX);
    let all = semaphore.acquire_many(MAX).unwrap();
    assert_eq!((all.num_permits(), semaphore.available_permits()), (MAX, 0));
    let mut waits = Task::queued(semaphore.acquire_many_async(MAX));
    drop(all);
    assert!(waits.is_woken());
    let Poll::Ready(Ok(mut all)) = waits.poll() else { panic!("all are there") };
    drop(all.split(MAX - 1).unwrap());
    assert_eq!(semaphore.available_permits(), MAX - 1);
    assert_eq!(semaphore.forget_permits(usize::MAX), MAX - 1);
    drop(all);
    assert_eq!(semaphore.available_permits(), 1);
    semaphore.add_permits(MAX - 1);
    assert_eq!(semaphore.available_permits(), MAX);
}

#[test]
fn more_than_the_maximum_is_refused_and_changes_nothing() {
    let panics = |run: &dyn Fn(), expected: &str| {
        let payload = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
        let text = payload.downcast_ref::<String>().map_or_else(
            || (*payload.downcast_ref::<&str>().expect("a panic with a text")).to_owned(),
            Clone::clone,
        );
        assert!(text.contains(expected), "{text}");
    };
    let limit = "a semaphore has at most `Semaphore::MAX_PERMITS` permits";
    panics(&|| assert!(!Semaphore::new(MAX + 1).is_closed()), limit);
    let semaphore = Semaphore::new(MAX - 1);
    panics(&|| semaphore.add_permits(2), limit);
    panics(&|| semaphore.add_permits(MAX), limit);
    panics(&|| semaphore.add_permits(usize::MAX), limit);
    assert_eq!(semaphore.available_permits(), MAX - 1);
    assert!(semaphore.try_acquire().is_ok());
    assert_eq!(semaphore.try_acquire_many(usize::MAX).unwrap_err(), TryAcquireError::NoPermits);
    let asked = "permits were requested: a semaphore has at most";
    panics(&|| drop(semaphore.acquire_many(MAX + 1)), asked);
    panics(&|| drop(semaphore.acquire_many_async(MAX + 1)), asked);
    // What was added while a permit was held leaves no room for it.
    let permit = semaphore.acquire().unwrap();
    semaphore.add_permits(2);
    drop(permit);
    assert_eq!(semaphore.available_permits(), MAX);
    let other = Semaphore::new(1);
    panics(&|| semaphore.acquire().unwrap().merge(other.acquire().unwrap()), "cannot be merged");
    assert_eq!((semaphore.available_permits(), other.available_permits()), (MAX, 1));
}

#[test]
fn permits_are_merged_split_and_forgotten() {
    let semaphore = Arc::new(Semaphore::new(6));
    macro_rules! check {
        ($one:ident, $many:ident) => {
            let mut permits = semaphore.$many(4).unwrap();
            permits.merge(semaphore.$one().unwrap());
            assert_eq!((permits.num_permits(), semaphore.available_permits()), (5, 1));
            assert!(permits.split(6).is_none());
            let mut part = permits.split(2).unwrap();
            assert_eq!((permits.num_permits(), part.num_permits()), (3, 2));
            drop(part.split(1));
            assert_eq!(semaphore.available_permits(), 2);
            drop(part.split(0));
            part.forget();
            assert_eq!(semaphore.available_permits(), 2);
            drop(permits);
            assert_eq!(semaphore.available_permits(), 5);
            semaphore.add_permits(1);
        };
    }
    check!(acquire, acquire_many);
    check!(acquire_owned, acquire_many_owned);
    assert_eq!(semaphore.forget_permits(4), 4);
    assert_eq!(semaphore.forget_permits(4), 2);
    assert_eq!(semaphore.forget_permits(4), 0);
    assert!(semaphore.try_acquire().is_err());
}

#[test]
fn an_acquirer_of_no_permits_does_not_wait() {
    let semaphore = Semaphore::new(0);
    let _waits = Task::queued(semaphore.acquire_async());
    drop(semaphore.acquire_many(0).unwrap());
    drop(semaphore.try_acquire_many(0).unwrap());
    assert_eq!(block_on(semaphore.acquire_many_async(0)).unwrap().num_permits(), 0);
    semaphore.close();
    assert_eq!(semaphore.acquire_many(0).unwrap_err(), Closed);
}

#[test]
fn close_wakes_all_and_is_for_ever() {
    let semaphore = Arc::new(Semaphore::new(1));
    let held = semaphore.acquire().unwrap();
    let mut unpolled = Task::queued(semaphore.acquire_async());
    let mut owned = Task::queued(semaphore.acquire_many_owned_async(2).deadline(far()));
    thread::scope(|scope| {
        scope.spawn(|| assert_eq!(semaphore.acquire_many(2).unwrap_err(), Closed));
        scope.spawn(|| assert_eq!(semaphore.acquire_until(far()).unwrap_err(), AcquireError::Closed));
        scope.spawn(|| assert_eq!(block_on(semaphore.acquire_async()).unwrap_err(), Closed));
        until(|| waiters(&*semaphore) == 5);
        assert!(!semaphore.is_closed());
        semaphore.close();
        assert!(semaphore.is_closed());
    });
    assert!(matches!(owned.poll(), Poll::Ready(Err(AcquireError::Closed))));
    assert!(matches!(unpolled.poll(), Poll::Ready(Err(Closed))));
    assert_eq!(waiters(&*semaphore), 0);
    drop(held);
    semaphore.add_permits(2);
    assert_eq!((semaphore.available_permits(), semaphore.is_closed()), (3, true));
    assert_eq!(semaphore.acquire().unwrap_err(), Closed);
    assert_eq!(semaphore.try_acquire().unwrap_err(), TryAcquireError::Closed);
    assert_eq!(semaphore.acquire_for(MOMENT).unwrap_err(), AcquireError::Closed);
    assert_eq!(block_on(semaphore.acquire_owned_async()).unwrap_err(), Closed);
    assert_eq!(semaphore.forget_permits(5), 3);
    semaphore.close();
    assert!(semaphore.is_closed());
}

#[test]
fn where_blocking_is_forbidden_a_closed_semaphore_says_so() {
    let semaphore = Semaphore::new(0);
    semaphore.close();
    let _must_not = forbid_blocking();
    assert_eq!(semaphore.acquire().unwrap_err(), Closed, "which needs no waiting");
}

/// A waker that panics costs no permit: neither the one that was to be given back nor one taken on the way.
#[test]
fn a_waker_that_panics_costs_no_permit() {
    let semaphore = Semaphore::new(0);
    let mut first = Task::queued(semaphore.acquire_async());
    let mut second = pin!(semaphore.acquire_async());
    assert!(second.as_mut().poll(&mut Context::from_waker(&Panics::waker())).is_pending());
    semaphore.add_permits(2);
    // Signals the next, unless the watchdog has.
    let Poll::Ready(Ok(permit)) = first.poll() else { panic!("it was signalled") };
    assert_eq!(semaphore.available_permits(), 1);
    assert!(second.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
    drop(permit);
    assert_eq!(semaphore.available_permits(), 2);
}

#[test]
fn shows_what_there_is() {
    let semaphore = Semaphore::new(2);
    let permits = semaphore.acquire_many(2).unwrap();
    assert_eq!(format!("{permits:?}"), "SemaphorePermit { permits: 2, .. }");
    let waits = semaphore.acquire_async();
    assert_eq!(format!("{waits:?}"), "SemaphoreAcquire { permits: 1, waiting: false, .. }");
    assert_eq!(format!("{semaphore:?}"), "Semaphore { available_permits: 0, is_closed: false }");
    semaphore.close();
    assert_eq!(format!("{semaphore:?}"), "Semaphore { available_permits: 0, is_closed: true }");
}
