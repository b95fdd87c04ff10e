//! Guards that let go of their lock while something runs: others have it meanwhile, and however that ends, there is no guard
//! without its lock. A thread's half; that of tasks is in `unlocked_async.rs`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::Waker;
use std::thread::{self, Scope};

use waitword::*;

use super::{On, on};
use crate::common::{Panics, PlainCounter, block_on, forbidden};
use crate::rows;

/// A lock, and what runs something with it released: `unlocked` or `unlocked_fair` of a guard.
struct Case<'a, L> {
    lock: &'a On<L>,
    unlocked: &'a mut dyn FnMut(&mut dyn FnMut()),
    is_fair: bool,
}

macro_rules! of_each_guard {
    ($test:ident, $lock:ident.$acquire:ident, $Guard:ident) => {
        for is_fair in [false, true] {
            let mut guard = $lock.$acquire();
            let mut unlocked = |run: &mut dyn FnMut()| match is_fair {
                false => $Guard::unlocked(&mut guard, run),
                true => $Guard::unlocked_fair(&mut guard, run),
            };
            super::$test(super::Case { lock: &$lock, unlocked: &mut unlocked, is_fair });
            assert!(!$lock.is_free(), "there is a guard");
            drop(guard);
            assert!($lock.is_free());
        }
    };
}

/// Another thread has the lock alone, and releases it after it has said so.
fn held_by_another<'scope, L: Send + Sync>(
    scope: &'scope Scope<'scope, '_>,
    lock: &'scope On<L>,
    releases: &'scope AtomicBool,
) {
    let guard = lock.hold();
    scope.spawn(move || {
        // A wrong implementation that does not wait for the lock is likely to be ahead of this.
        thread::yield_now();
        releases.store(true, Ordering::SeqCst);
        drop(guard);
    });
}

for_each_guard! { of_each_guard:
    others_have_the_lock_meanwhile_and_the_guard_has_it_afterwards,
    it_waits_for_the_holder_of_that_moment,
    if_what_it_runs_panics_the_guard_has_its_lock,
    where_blocking_is_forbidden_nothing_is_run_and_the_guard_stays,
    it_waits_also_if_what_it_runs_forbids_that,
    if_the_waker_of_the_next_waiter_panics_it_runs_all_the_same,
    a_fair_one_reserves_the_lock_for_the_head_waiter,
}

fn others_have_the_lock_meanwhile_and_the_guard_has_it_afterwards<L: Send + Sync>(
    Case { lock, unlocked, .. }: Case<L>,
) {
    let mut ran = 0;
    unlocked(&mut || {
        drop(lock.hold());
        assert!(lock.is_free());
        ran += 1;
    });
    assert_eq!(ran, 1);
}

fn it_waits_for_the_holder_of_that_moment<L: Send + Sync>(Case { lock, unlocked, .. }: Case<L>) {
    let releases = AtomicBool::new(false);
    thread::scope(|scope| {
        unlocked(&mut || held_by_another(scope, lock, &releases));
        assert!(releases.load(Ordering::SeqCst) && !lock.is_free());
    });
}

fn if_what_it_runs_panics_the_guard_has_its_lock<L: Send + Sync>(Case { lock, unlocked, .. }: Case<L>) {
    let releases = AtomicBool::new(false);
    thread::scope(|scope| {
        let mut run = || {
            held_by_another(scope, lock, &releases);
            panic!("what it runs");
        };
        let panic = catch_unwind(AssertUnwindSafe(|| unlocked(&mut run))).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"what it runs"));
        assert!(releases.load(Ordering::SeqCst) && !lock.is_free());
    });
}

/// Also without waiters: whether another will hold the lock afterwards is not known yet.
fn where_blocking_is_forbidden_nothing_is_run_and_the_guard_stays<L: Send + Sync>(
    Case { lock, unlocked, .. }: Case<L>,
) {
    let (message, _) = forbidden(|| unlocked(&mut || unreachable!("it must not block")));
    assert!(message.contains("use `unlocked_async`") || message.contains("use `unlocked_fair_async`"));
    assert!(!lock.is_free());
}

/// The guard is there, and must not be without its lock.
fn it_waits_also_if_what_it_runs_forbids_that<L: Send + Sync>(Case { lock, unlocked, .. }: Case<L>) {
    let releases = AtomicBool::new(false);
    let mut must_not = None;
    thread::scope(|scope| {
        unlocked(&mut || {
            held_by_another(scope, lock, &releases);
            must_not = Some(forbid_blocking());
        });
        assert!(releases.load(Ordering::SeqCst) && !lock.is_free());
    });
}

fn if_the_waker_of_the_next_waiter_panics_it_runs_all_the_same<L: Send + Sync>(
    Case { lock, unlocked, .. }: Case<L>,
) {
    let queued = lock.queued(&Panics::waker());
    let mut has_run = false;
    unlocked(&mut || has_run = true);
    assert!(has_run);
    assert!(!lock.is_free(), "there is a guard");
    drop(queued);
}

#[test]
fn what_it_runs_has_a_result() {
    let lock = RwLock::new(1);
    let mut reader = lock.read();
    let old = RwLockReadGuard::unlocked(&mut reader, || std::mem::replace(&mut *lock.write(), 2));
    assert_eq!((old, *reader), (1, 2));
    let mutex = Mutex::new("one".to_owned());
    let mut guard = mutex.lock();
    let old =
        MutexGuard::unlocked_fair(&mut guard, || std::mem::replace(&mut *mutex.lock(), "two".to_owned()));
    assert_eq!((old.as_str(), guard.as_str()), ("one", "two"));
}

/// Of the two forms only one lets others barge past the waiter.
fn a_fair_one_reserves_the_lock_for_the_head_waiter<L>(Case { lock, unlocked, is_fair }: Case<L>) {
    let mut waiter = Some(lock.queued(Waker::noop()));
    let mut lets_barge = false;
    unlocked(&mut || {
        lets_barge = lock.is_free();
        drop(block_on(waiter.take().unwrap()));
    });
    assert!(!lock.is_free());
    assert_eq!(lets_barge, !is_fair);
}

/// Threads and tasks let go in the middle of their work, and the lock excludes them before and after it.
#[test]
fn threads_and_tasks_let_go_and_come_back_one_at_a_time() {
    const ROUNDS: u64 = 300;
    let (mutex, rwlock) = (Mutex::new(PlainCounter::default()), RwLock::new(PlainCounter::default()));
    let meanwhile = AtomicU64::new(0);
    let run = || {
        meanwhile.fetch_add(1, Ordering::Relaxed);
    };
    thread::scope(|scope| {
        for seed in 0..4 {
            let (mutex, rwlock) = (&mutex, &rwlock);
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    if (seed + round) % 2 == 0 {
                        let mut guard = mutex.lock();
                        guard.increment();
                        MutexGuard::unlocked(&mut guard, run);
                        guard.increment();
                        let mut writer = rwlock.write();
                        writer.increment();
                        RwLockWriteGuard::unlocked_fair(&mut writer, run);
                        writer.increment();
                    } else {
                        block_on(async {
                            let guard = mutex.lock_async().await;
                            guard.increment();
                            let (guard, ()) = MutexGuard::unlocked_fair_async(guard, async || run()).await;
                            guard.increment();
                            let writer = rwlock.write_async().await;
                            writer.increment();
                            let (writer, ()) = RwLockWriteGuard::unlocked_async(writer, async || run()).await;
                            writer.increment();
                        });
                    }
                }
            });
        }
    });
    assert_eq!(mutex.into_inner().get(), 2 * 4 * ROUNDS);
    assert_eq!(rwlock.into_inner().get(), 2 * 4 * ROUNDS);
    assert_eq!(meanwhile.into_inner(), 2 * 4 * ROUNDS);
}
