//! Guards that a future takes and gives back, with their lock released meanwhile. Dropped at whatever moment, it holds nothing, and
//! keeps no other from the lock.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Poll, Waker};

use smol::future::yield_now;
use waitword::*;

use crate::common::exclusive::Exclusive;
use crate::common::{Task, block_on};

type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// Runs a test, which is given a guard and its `unlocked_async` and `unlocked_fair_async`.
macro_rules! of_each_guard {
    ($test:ident, $lock:ident.$acquire:ident, $Guard:ident) => {
        super::$test(&$lock, |run| Box::pin($Guard::unlocked_async($lock.$acquire(), async || run.await)));
        super::$test(&$lock, |run| {
            Box::pin($Guard::unlocked_fair_async($lock.$acquire(), async || run.await))
        });
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
}

fn the_lock_is_released_from_the_first_poll_to_the_last<'a, L: Exclusive, G: 'a>(
    lock: &Arc<L>,
    unlocked: impl Fn(Boxed<'a, u8>) -> Boxed<'a, (G, u8)>,
) {
    let mut future = Task::new(unlocked(once()));
    assert!(!lock.is_free(), "it was not polled");
    assert!(future.poll().is_pending());
    assert!(lock.is_free());
    let (guard, result) = future.finish();
    assert!(!lock.is_free() && result == 7);
    drop(guard);
    assert!(lock.is_free());
}

fn it_waits_for_the_holder_of_that_moment_also_where_blocking_is_forbidden<'a, L: Exclusive, G: 'a>(
    lock: &Arc<L>,
    unlocked: impl Fn(Boxed<'a, u8>) -> Boxed<'a, (G, u8)>,
) {
    let mut future = Task::new(unlocked(once()));
    let _must_not = forbid_blocking();
    assert!(future.poll().is_pending());
    let other = lock.lock();
    assert!(future.poll().is_pending() && !future.is_woken());
    drop(other);
    assert!(future.is_woken());
    let (guard, _) = future.finish();
    assert!(!lock.is_free());
    drop(guard);
}

fn dropped_before_it_is_polled_it_releases_the_lock<'a, L: Exclusive, G: 'a>(
    lock: &Arc<L>,
    unlocked: impl Fn(Boxed<'a, u8>) -> Boxed<'a, (G, u8)>,
) {
    drop(unlocked(once()));
    assert!(lock.is_free());
}

fn dropped_halfway_it_holds_nothing<'a, L: Exclusive, G: 'a>(
    lock: &Arc<L>,
    unlocked: impl Fn(Boxed<'a, u8>) -> Boxed<'a, (G, u8)>,
) {
    let mut future = Task::new(unlocked(once()));
    assert!(future.poll().is_pending());
    let other = lock.lock();
    drop(future);
    assert!(!lock.is_free(), "it does not release what it has released before");
    drop(other);
    assert!(lock.is_free());
}

/// It was signalled, and the one behind it is next.
fn dropped_while_it_waits_for_the_lock_it_forwards_the_signal<'a, L: Exclusive, G: 'a>(
    lock: &Arc<L>,
    unlocked: impl Fn(Boxed<'a, u8>) -> Boxed<'a, (G, u8)>,
) {
    let mut future = Task::new(unlocked(once()));
    assert!(future.poll().is_pending());
    let other = lock.lock();
    assert!(future.poll().is_pending());
    let behind = lock.queued(Waker::noop());
    drop(other);
    assert!(future.is_woken());
    drop(future);
    drop(block_on(behind));
    assert!(lock.is_free());
}

fn if_what_it_runs_panics_the_lock_is_released<'a, L: Exclusive, G: 'a>(
    lock: &Arc<L>,
    unlocked: impl Fn(Boxed<'a, u8>) -> Boxed<'a, (G, u8)>,
) {
    let mut future = Task::new(unlocked(Box::pin(async { panic!("what it runs") })));
    assert!(catch_unwind(AssertUnwindSafe(|| future.poll())).is_err());
    assert!(lock.is_free());
    let other = lock.lock();
    drop(future);
    assert!(!lock.is_free());
    drop(other);
}

/// Of the two forms only one lets others barge past the waiter.
#[test]
fn a_fair_one_reserves_the_lock_for_the_head_waiter() {
    let (mutex, lock) = (Arc::new(Mutex::new(())), Arc::new(RwLock::new(())));
    for is_fair in [false, true] {
        let (guard, reader) = (mutex.lock(), lock.read());
        let waiters = [mutex.queued(Waker::noop()), lock.queued(Waker::noop())];
        let is_free = async || (mutex.is_free(), lock.is_free());
        let mut future = Task::new(async {
            let seen = async || {
                if is_fair {
                    RwLockReadGuard::unlocked_fair_async(reader, is_free).await
                } else {
                    RwLockReadGuard::unlocked_async(reader, is_free).await
                }
            };
            if is_fair {
                MutexGuard::unlocked_fair_async(guard, seen).await
            } else {
                MutexGuard::unlocked_async(guard, seen).await
            }
        });
        let mut waiters = waiters.into_iter().map(block_on);
        let (guards, is_free) = match future.poll() {
            Poll::Ready((guard, (reader, is_free))) => ((guard, reader), is_free),
            Poll::Pending => {
                waiters.by_ref().for_each(drop);
                let (guard, (reader, is_free)) = future.finish();
                ((guard, reader), is_free)
            }
        };
        assert_eq!(is_free, (!is_fair, !is_fair));
        drop(guards);
        waiters.for_each(drop);
    }
}
