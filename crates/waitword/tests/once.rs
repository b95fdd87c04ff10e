//! The cell that is set once, from outside: the whole grid of names, and what becomes of the turn of an initialiser that
//! panics, fails or is dropped.

mod common;

use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use common::{NotUnpin, Task, block_on, far, forbidden, until, waits};
use smol::future::yield_now;
use waitword::future::*;
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
    ("get", |cell| cell.get().ok_or(LockError::TimedOut)),
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

/// The timed ones, with no time: they make the value, but wait for nobody.
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
fn every_queued_initialiser_gets_the_turn_of_one_that_is_dropped() {
    for (way, init) in INITS {
        let cell = OnceLock::new();
        let first = running(&cell);
        thread::scope(|scope| {
            let waiter = waits(scope, || cell.waiters() == 1, || init(&cell, || 2));
            drop(first);
            assert_eq!(waiter.join().unwrap(), Ok(&2), "{way}");
        });
    }
}

#[test]
fn a_call_without_time_waits_for_no_initialiser() {
    let cell = OnceLock::new();
    let first = running(&cell);
    for (way, init) in INITS_WITHOUT_TIME {
        assert_eq!(init(&cell, || unreachable!("another runs")), Err(LockError::TimedOut), "{way}");
    }
    for (way, wait) in WAITS_WITHOUT_TIME {
        assert_eq!(wait(&cell), Err(LockError::TimedOut), "{way}");
    }
    for timeout in [1, 3, 15].map(Duration::from_millis) {
        let start = Instant::now();
        assert_eq!(cell.wait_for(timeout), Err(LockError::TimedOut));
        assert!(start.elapsed() >= timeout);
        let start = Instant::now();
        assert_eq!(block_on(cell.get_or_init_async_for(timeout, async || 2)), Err(LockError::TimedOut));
        assert!(start.elapsed() >= timeout);
    }
    assert_eq!(cell.waiters(), 0);
    assert_eq!(cell.set(2), Err(2), "an initialiser runs");
    assert_eq!(first.finish(), &1);
}

#[test]
fn an_initialiser_that_panics_or_fails_gives_up_its_turn() {
    let cell = OnceLock::new();
    assert!(catch_unwind(AssertUnwindSafe(|| cell.get_or_init(|| panic!("initialiser")))).is_err());
    assert_eq!(cell.get_or_try_init(|| Err("no")), Err("no"));
    assert_eq!(cell.get_or_try_init_for(Duration::MAX, || Err("no")), Ok(Err("no")));
    assert_eq!(block_on(cell.get_or_try_init_async(async || Err("no"))), Err("no"));
    assert_eq!(block_on(cell.get_or_try_init_async_until(far(), async || Err("no"))), Ok(Err("no")));
    let panics = catch_unwind(AssertUnwindSafe(|| {
        block_on(cell.get_or_init_async(async || {
            yield_now().await;
            panic!("initialiser")
        }))
    }));
    assert!(panics.is_err());
    assert_eq!((cell.get(), cell.waiters()), (None, 0));
    assert_eq!(cell.get_or_init(|| 3), &3);
}

/// Each waiter fails in its turn, until one does not; waiters without an initialiser go on waiting.
#[test]
fn the_turn_goes_through_the_queue_of_threads_and_tasks() {
    let cell = OnceLock::new();
    let (failed, made) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let attempt = || match failed.fetch_add(1, Ordering::SeqCst) {
        5.. => {
            made.fetch_add(1, Ordering::SeqCst);
            Ok(7)
        }
        _ => Err("not yet"),
    };
    let first = running(&cell);
    thread::scope(|scope| {
        for place in 0..8 {
            let (cell, attempt) = (&cell, &attempt);
            waits(
                scope,
                move || cell.waiters() == place + 1,
                move || match place {
                    3 => assert_eq!(cell.wait(), &7),
                    4 => assert_eq!(block_on(cell.wait_async()), &7),
                    _ if place % 2 == 0 => drop(cell.get_or_try_init(attempt)),
                    _ => drop(block_on(cell.get_or_try_init_async(async || {
                        yield_now().await;
                        attempt()
                    }))),
                },
            );
        }
        drop(first);
    });
    assert_eq!((cell.get(), made.into_inner(), failed.into_inner()), (Some(&7), 1, 6));
}

#[test]
fn a_task_that_is_woken_and_not_polled_stops_no_other() {
    let cell = OnceLock::new();
    let first = running(&cell);
    let mut unpolled = Task::new(cell.get_or_init_async(async || 2));
    assert!(unpolled.poll().is_pending());
    thread::scope(|scope| {
        let behind = waits(scope, || cell.waiters() == 2, || *cell.get_or_init(|| 3));
        drop(first);
        assert_eq!(behind.join().unwrap(), 3);
    });
    assert!(unpolled.is_woken());
    assert_eq!(unpolled.poll(), Poll::Ready(&3));
}

/// Wherever it is dropped, before its turn, in it, or signalled and not polled, the one behind it makes the value.
#[test]
fn an_initialiser_dropped_at_any_poll_gives_up_its_turn() {
    for polls in 0.. {
        let cell = OnceLock::new();
        let first = running(&cell);
        let mut dropped = Task::new(cell.get_or_init_async(async || {
            yield_now().await;
            yield_now().await;
            2
        }));
        assert!(dropped.poll().is_pending());
        let mut behind = Task::new(cell.get_or_init_async(async || 3));
        assert!(behind.poll().is_pending());
        drop(first);
        let ended = (0..polls).any(|_| dropped.poll().is_ready());
        if !ended && behind.is_woken() && polls > 0 {
            assert!(behind.poll().is_pending(), "the other has the turn");
        }
        drop(dropped);
        assert_eq!(behind.finish(), if ended { &2 } else { &3 }, "dropped after {polls} polls");
        if ended {
            assert!(polls >= 3, "its turn, and two awaits");
            break;
        }
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
    assert_eq!(cell.get_or_init_for(Duration::ZERO, || 2), Err(LockError::TimedOut));
    assert_eq!(cell.waiters(), 0);
    assert_eq!(first.finish(), &1);
}

mod lazy {
    use super::*;

    type Lazy = LazyLock<i32>;
    type Force = (&'static str, for<'a> fn(&'a Lazy) -> Got<'a>);

    const FORCES: [Force; 7] = [
        ("deref", |lazy| Ok(lazy)),
        ("force", |lazy| Ok(LazyLock::force(lazy))),
        ("force_for", |lazy| LazyLock::force_for(lazy, Duration::ZERO)),
        ("force_until", |lazy| LazyLock::force_until(lazy, Instant::now())),
        ("force_async", |lazy| Ok(block_on(LazyLock::force_async(lazy)))),
        ("force_async_for", |lazy| block_on(LazyLock::force_async_for(lazy, Duration::ZERO))),
        ("force_async_until", |lazy| block_on(LazyLock::force_async_until(lazy, Instant::now()))),
    ];

    #[test]
    fn every_way_to_force_makes_the_value_once() {
        let _nobody_may_wait = forbid_blocking();
        for (way, force) in FORCES {
            let lazy: Lazy = LazyLock::new(|| 7);
            assert_eq!(LazyLock::get(&lazy), None);
            assert_eq!(force(&lazy), Ok(&7), "{way}");
            for (other, force) in FORCES {
                assert_eq!(force(&lazy), Ok(&7), "{other} after {way}");
            }
        }
    }

    #[test]
    fn threads_and_tasks_wait_for_the_one_that_makes_it() {
        let (begun, go) = (Event::new(), Event::new());
        let lazy = LazyLock::new(|| {
            begun.notify_one();
            go.wait();
            7
        });
        thread::scope(|scope| {
            scope.spawn(|| assert_eq!(*lazy, 7));
            begun.wait();
            let mut task = Task::new(LazyLock::force_async(&lazy));
            assert!(task.poll().is_pending());
            assert_eq!(LazyLock::force_for(&lazy, Duration::ZERO), Err(LockError::TimedOut));
            let in_time = block_on(LazyLock::force_async_for(&lazy, Duration::from_millis(1)));
            assert_eq!(in_time, Err(LockError::TimedOut));
            assert!(forbidden(|| *LazyLock::force(&lazy)).contains("force_async"));
            let thread = scope.spawn(|| *LazyLock::force(&lazy));
            go.notify_one();
            until(|| task.is_woken());
            assert_eq!(task.poll(), Poll::Ready(&7));
            assert_eq!(thread.join().unwrap(), 7);
        });
    }

    #[test]
    fn an_initialiser_that_has_panicked_is_not_run_again() {
        let lazy: Lazy = LazyLock::new(|| panic!("initialiser"));
        for (way, force) in FORCES {
            assert!(catch_unwind(AssertUnwindSafe(|| force(&lazy).copied())).is_err(), "{way}");
        }
        assert!(matches!(LazyLock::into_inner(lazy), Err(None)));
    }

    #[test]
    fn what_it_holds_comes_out() {
        let mut lazy: Lazy = LazyLock::new(|| 7);
        assert_eq!(format!("{lazy:?}"), "LazyLock(<uninit>)");
        assert_eq!(LazyLock::get_mut(&mut lazy), None);
        LazyLock::force(&lazy);
        *LazyLock::get_mut(&mut lazy).unwrap() = 8;
        assert_eq!(format!("{lazy:?}"), "LazyLock(8)");
        assert_eq!(LazyLock::into_inner(lazy).ok(), Some(8));
        let unmade: Lazy = LazyLock::new(|| 9);
        assert!(matches!(LazyLock::into_inner(unmade), Err(Some(make)) if make() == 9));
        assert_eq!(*LazyLock::<String>::default(), "");
    }
}

#[test]
fn they_cross_threads_and_their_futures_do_not_move() {
    fn send_and_sync<T: Send + Sync>() {}
    fn send<T: Send>(_: &T) {}
    send_and_sync::<OnceLock<String>>();
    send_and_sync::<LazyLock<String>>();
    send_and_sync::<OnceWait<'static, String>>();
    send_and_sync::<OnceWaitUntil<'static, String>>();
    send_and_sync::<LazyForce<'static, String, fn() -> String>>();
    OnceWait::<'static, String>::check();
    OnceWaitUntil::<'static, String>::check();
    LazyForce::<'static, String, fn() -> String>::check();
    LazyForceUntil::<'static, String, fn() -> String>::check();
    let cell = OnceLock::new();
    send(&cell.get_or_init_async(async || {
        yield_now().await;
        1
    }));
    send(&cell.get_or_try_init_async_for(Duration::ZERO, async || fine(1)));
    // A value that is only `Send` can be moved with its cell, and not be shared.
    fn only_send<T: Send>() {}
    only_send::<OnceLock<std::cell::Cell<i32>>>();
    assert_eq!(size_of::<OnceLock<u32>>(), 8);
    assert!(size_of::<OnceWait<'static, String>>() <= 112);
}

/// A thread that shares a cell can move a value into it for others to take out, and refer to it while others do.
#[test]
fn only_what_is_send_and_sync_can_be_shared_in_a_cell() {
    trait NotSync<Ambiguous> {
        fn check_sync() {}
    }
    struct IfSync;
    impl<T> NotSync<()> for T {}
    impl<T: Sync> NotSync<IfSync> for T {}
    OnceLock::<std::cell::Cell<i32>>::check_sync();
    LazyLock::<std::cell::Cell<i32>>::check_sync();
    // `Sync`, but not `Send`.
    OnceLock::<std::sync::MutexGuard<'static, i32>>::check_sync();
}
