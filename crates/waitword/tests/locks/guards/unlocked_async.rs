//! Guards that a future takes and gives back, with their lock released meanwhile. Dropped at whatever moment, it holds nothing, and
//! keeps no other from the lock.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Poll, Waker};

use smol::future::yield_now;
use waitword::*;

use super::{On, on};
use crate::common::law::{Held, held};
use crate::common::{Task, block_on};
use crate::rows;

type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// Has a guard let go of its lock while this runs, and comes back with both.
type Unlocked<'t, 'a> = &'t dyn Fn(Boxed<'a, u8>) -> Task<'a, (Held<'a>, u8)>;

/// A lock, and `unlocked_async` or `unlocked_fair_async` of a guard.
struct Case<'t, 'a, L> {
    lock: &'a On<L>,
    unlocked: Unlocked<'t, 'a>,
    is_fair: bool,
}

macro_rules! of_each_guard {
    ($test:ident, $lock:ident.$acquire:ident, $Guard:ident) => {
        of_each_guard!($test, $lock, false, |run| $Guard::unlocked_async($lock.$acquire(), async || run
            .await));
        of_each_guard!($test, $lock, true, |run| $Guard::unlocked_fair_async($lock.$acquire(), async || run
            .await));
    };
    ($test:ident, $lock:ident, $is_fair:literal, |$run:ident| $unlocked:expr) => {
        let unlocked: Unlocked = &|$run| {
            let unlocked = $unlocked;
            Task::new(async {
                let (guard, result) = unlocked.await;
                (held(guard), result)
            })
        };
        super::$test(super::Case { lock: &$lock, unlocked, is_fair: $is_fair });
        assert!($lock.is_free());
    };
}

/// What runs with the lock released: it awaits once.
fn once<'a>() -> Boxed<'a, u8> {
    Box::pin(async {
        yield_now().await;
        7
    })
}

for_each_guard! { of_each_guard:
    the_lock_is_released_from_the_first_poll_to_the_last,
    it_waits_for_the_holder_of_that_moment_also_where_blocking_is_forbidden,
    dropped_before_it_is_polled_it_releases_the_lock,
    dropped_halfway_it_holds_nothing,
    dropped_while_it_waits_for_the_lock_it_forwards_the_signal,
    if_what_it_runs_panics_the_lock_is_released,
    a_fair_one_reserves_the_lock_for_the_head_waiter,
}

fn the_lock_is_released_from_the_first_poll_to_the_last<L>(Case { lock, unlocked, .. }: Case<L>) {
    let mut future = unlocked(once());
    assert!(!lock.is_free(), "it was not polled");
    assert!(future.poll().is_pending());
    assert!(lock.is_free());
    let (_guard, result) = future.finish();
    assert!(!lock.is_free() && result == 7);
}

fn it_waits_for_the_holder_of_that_moment_also_where_blocking_is_forbidden<L>(
    Case { lock, unlocked, .. }: Case<L>,
) {
    let mut future = unlocked(once());
    let _must_not = forbid_blocking();
    assert!(future.poll().is_pending());
    let other = lock.hold();
    assert!(future.poll().is_pending() && !future.is_woken());
    drop(other);
    assert!(future.is_woken());
    let (guard, _) = future.finish();
    assert!(!lock.is_free());
    drop(guard);
}

fn dropped_before_it_is_polled_it_releases_the_lock<L>(Case { lock, unlocked, .. }: Case<L>) {
    drop(unlocked(once()));
    assert!(lock.is_free());
}

fn dropped_halfway_it_holds_nothing<L>(Case { lock, unlocked, .. }: Case<L>) {
    let mut future = unlocked(once());
    assert!(future.poll().is_pending());
    let other = lock.hold();
    drop(future);
    assert!(!lock.is_free(), "it does not release what it has released before");
    drop(other);
}

/// It was signalled, and the one behind it is next.
fn dropped_while_it_waits_for_the_lock_it_forwards_the_signal<L>(Case { lock, unlocked, .. }: Case<L>) {
    let mut future = unlocked(once());
    assert!(future.poll().is_pending());
    let other = lock.hold();
    assert!(future.poll().is_pending());
    let behind = lock.queued(Waker::noop());
    drop(other);
    assert!(future.is_woken());
    drop(future);
    drop(block_on(behind));
}

fn if_what_it_runs_panics_the_lock_is_released<L>(Case { lock, unlocked, .. }: Case<L>) {
    let mut future = unlocked(Box::pin(async { panic!("what it runs") }));
    assert!(catch_unwind(AssertUnwindSafe(|| future.poll())).is_err());
    assert!(lock.is_free());
    let other = lock.hold();
    drop(future);
    assert!(!lock.is_free());
    drop(other);
}

/// Of the two forms only one lets others barge past the waiter.
fn a_fair_one_reserves_the_lock_for_the_head_waiter<L>(Case { lock, unlocked, is_fair }: Case<L>) {
    let mut future = unlocked(Box::pin(async { u8::from(lock.is_free()) }));
    let waiter = lock.queued(Waker::noop());
    let (_guard, lets_barge) = match future.poll() {
        Poll::Ready(both) => both,
        Poll::Pending => {
            drop(block_on(waiter));
            future.finish()
        }
    };
    assert_eq!(lets_barge == 1, !is_fair);
}
