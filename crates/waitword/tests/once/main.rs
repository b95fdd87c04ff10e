//! The cell that is set once, from outside: the whole grid of names.

#[path = "../common/mod.rs"]
mod common;
mod lazy;
mod owner;
mod turns;

use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use common::{Task, block_on, far, forbidden, waits};
use smol::future::yield_now;
use waitword::*;

type Got<'a> = Result<&'a i32, LockError>;
type Wait = (&'static str, for<'a> fn(&'a OnceLock<i32>) -> Got<'a>);
type Init = (&'static str, for<'a> fn(&'a OnceLock<i32>, fn() -> i32) -> Got<'a>);

/// Every way to wait for a value.
const WAITS: [Wait; 6] = [
    ("wait", |cell| Ok(cell.wait())),
    ("wait_for", |cell| cell.wait_for(Duration::MAX)),
    ("wait_until", |cell| cell.wait_until(far())),
    ("wait_async", |cell| Ok(block_on(cell.wait_async()))),
    ("wait_async_for", |cell| block_on(cell.wait_async_for(Duration::MAX))),
    ("wait_async_until", |cell| block_on(cell.wait_async_until(far()))),
];

const WAITS_WITHOUT_TIME: [Wait; 5] = [
    ("get", |cell| cell.get().ok_or(LockError::TIMED_OUT)),
    ("wait_for", |cell| cell.wait_for(Duration::ZERO)),
    ("wait_until", |cell| cell.wait_until(Instant::now())),
    ("wait_async_for", |cell| block_on(cell.wait_async_for(Duration::ZERO))),
    ("wait_async_until", |cell| block_on(cell.wait_async_until(Instant::now()))),
];

/// Every way to make one.
const INITS: [Init; 12] = [
    ("get_or_init", |cell, f| Ok(cell.get_or_init(f))),
    ("get_or_init_for", |cell, f| cell.get_or_init_for(Duration::MAX, f)),
    ("get_or_init_until", |cell, f| cell.get_or_init_until(far(), f)),
    ("get_or_init_async", |cell, f| Ok(block_on(cell.get_or_init_async(async || f())))),
    ("get_or_init_async_for", |cell, f| block_on(cell.get_or_init_async_for(Duration::MAX, async || f()))),
    ("get_or_init_async_until", |cell, f| block_on(cell.get_or_init_async_until(far(), async || f()))),
    ("get_or_try_init", |cell, f| Ok(cell.get_or_try_init(|| fine(f())).unwrap())),
    ("get_or_try_init_for", |cell, f| Ok(cell.get_or_try_init_for(Duration::MAX, || fine(f()))?.unwrap())),
    ("get_or_try_init_until", |cell, f| Ok(cell.get_or_try_init_until(far(), || fine(f()))?.unwrap())),
    (
        "get_or_try_init_async",
        |cell, f| Ok(block_on(cell.get_or_try_init_async(async || fine(f()))).unwrap()),
    ),
    ("get_or_try_init_async_for", |cell, f| {
        Ok(block_on(cell.get_or_try_init_async_for(Duration::MAX, async || fine(f())))?.unwrap())
    }),
    ("get_or_try_init_async_until", |cell, f| {
        Ok(block_on(cell.get_or_try_init_async_until(far(), async || fine(f())))?.unwrap())
    }),
];

/// The timed ones, with no time: they make the value, but do not wait.
const INITS_WITHOUT_TIME: [Init; 8] = [
    ("get_or_init_for", |cell, f| cell.get_or_init_for(Duration::ZERO, f)),
    ("get_or_init_until", |cell, f| cell.get_or_init_until(Instant::now(), f)),
    ("get_or_init_async_for", |cell, f| block_on(cell.get_or_init_async_for(Duration::ZERO, async || f()))),
    ("get_or_init_async_until", |cell, f| {
        block_on(cell.get_or_init_async_until(Instant::now(), async || f()))
    }),
    ("get_or_try_init_for", |cell, f| Ok(cell.get_or_try_init_for(Duration::ZERO, || fine(f()))?.unwrap())),
    ("get_or_try_init_until", |cell, f| {
        Ok(cell.get_or_try_init_until(Instant::now(), || fine(f()))?.unwrap())
    }),
    ("get_or_try_init_async_for", |cell, f| {
        Ok(block_on(cell.get_or_try_init_async_for(Duration::ZERO, async || fine(f())))?.unwrap())
    }),
    ("get_or_try_init_async_until", |cell, f| {
        Ok(block_on(cell.get_or_try_init_async_until(Instant::now(), async || fine(f())))?.unwrap())
    }),
];

fn fine(value: i32) -> Result<i32, Infallible> {
    Ok(value)
}

#[test]
fn every_initialiser_makes_the_value_once() {
    let _nobody_may_wait = forbid_blocking();
    for (way, init) in INITS.into_iter().chain(INITS_WITHOUT_TIME) {
        let cell = OnceLock::new();
        assert_eq!(init(&cell, || 7), Ok(&7), "{way}");
        for (other, init) in INITS.into_iter().chain(INITS_WITHOUT_TIME) {
            assert_eq!(init(&cell, || unreachable!("it is set")), Ok(&7), "{other} after {way}");
        }
        for (other, wait) in WAITS.into_iter().chain(WAITS_WITHOUT_TIME) {
            assert_eq!(wait(&cell), Ok(&7), "{other} after {way}");
        }
        assert_eq!(cell.set(8), Err(8), "{way}");
    }
}

#[test]
fn every_way_to_wait_waits_for_the_value() {
    for (way, wait) in WAITS {
        let cell = OnceLock::new();
        thread::scope(|scope| {
            let waiter = waits(scope, || cell.waiters() == 1, || wait(&cell));
            cell.set(7).unwrap();
            assert_eq!(waiter.join().unwrap(), Ok(&7), "{way}");
        });
    }
}

/// A task whose initialiser awaits once, and has the turn.
fn running<'a>(cell: &'a OnceLock<i32>) -> Task<'a, &'a i32> {
    let mut task = Task::new(cell.get_or_init_async(async || {
        yield_now().await;
        1
    }));
    assert!(task.poll().is_pending());
    task
}

#[test]
fn every_initialiser_waits_for_one_that_runs() {
    for (way, init) in INITS {
        let cell = OnceLock::new();
        let first = running(&cell);
        thread::scope(|scope| {
            let waiter =
                waits(scope, || cell.waiters() == 1, || init(&cell, || unreachable!("another runs")));
            assert_eq!(first.finish(), &1);
            assert_eq!(waiter.join().unwrap(), Ok(&1), "{way}");
        });
    }
}

#[test]
fn one_of_many_makes_the_value() {
    for _ in 0..50 {
        let cell = OnceLock::new();
        let made = AtomicUsize::new(0);
        thread::scope(|scope| {
            let mut threads = Vec::new();
            for place in 0..8 {
                let (cell, made) = (&cell, &made);
                threads.push(scope.spawn(move || {
                    let make = || made.fetch_add(1, Ordering::SeqCst);
                    let value = match place % 3 {
                        0 => cell.get_or_init(make),
                        1 => block_on(cell.get_or_init_async(async || {
                            yield_now().await;
                            make()
                        })),
                        _ => cell.wait(),
                    };
                    assert_eq!(*value, 0);
                }));
            }
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        });
        assert_eq!(made.into_inner(), 1);
    }
}

#[test]
fn a_value_is_dropped_once() {
    struct Counts<'a>(&'a AtomicUsize);
    impl Drop for Counts<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let drops = AtomicUsize::new(0);
    let drops_now = || drops.load(Ordering::SeqCst);
    let mut cell = OnceLock::from(Counts(&drops));
    drop(cell.set(Counts(&drops)));
    assert_eq!(drops_now(), 1, "the one that was not taken");
    drop(cell.take());
    assert_eq!(drops_now(), 2);
    assert!(cell.take().is_none() && cell.get().is_none() && cell.get_mut().is_none());
    assert!(cell.set(Counts(&drops)).is_ok(), "it can be set again");
    assert!(cell.get_mut().is_some());
    drop(cell.into_inner());
    assert_eq!(drops_now(), 3);
    drop(OnceLock::from(Counts(&drops)));
    assert_eq!(drops_now(), 4);
    drop(OnceLock::<Counts<'_>>::new());
    assert_eq!(drops_now(), 4);
}

#[test]
fn what_is_read_can_be_changed_by_the_only_owner() {
    let mut cell = OnceLock::default();
    assert_eq!(format!("{cell:?}"), "OnceLock(<uninit>)");
    cell.set(1).unwrap();
    *cell.get_mut().unwrap() += 1;
    assert_eq!(format!("{cell:?}"), "OnceLock(2)");
    assert_eq!(cell.clone(), OnceLock::from(2));
    assert_ne!(cell, OnceLock::new());
    assert_eq!(cell.into_inner(), Some(2));
    assert_eq!(format!("{:?}", OnceLock::<i32>::new().wait_async()), "OnceWait { waiting: false, .. }");
}

#[test]
fn forbidden_to_block() {
    let cell = OnceLock::new();
    assert!(forbidden(|| *cell.wait()).contains("`wait_async`"));
    let first = running(&cell);
    assert!(forbidden(|| *cell.get_or_init(|| 2)).contains("`get_or_init_async`"));
    let message = forbidden(|| cell.get_or_try_init(|| fine(2)).is_ok());
    assert!(message.contains("`get_or_try_init_async`"), "{message}");
    let _must_not = forbid_blocking();
    assert_eq!(cell.wait_for(Duration::from_secs(1)), Err(LockError::BlockingForbidden));
    assert_eq!(cell.get_or_init_until(far(), || 2), Err(LockError::BlockingForbidden));
    assert_eq!(cell.get_or_init_for(Duration::ZERO, || 2), Err(LockError::TIMED_OUT));
    assert_eq!(cell.waiters(), 0);
    assert_eq!(first.finish(), &1);
}
