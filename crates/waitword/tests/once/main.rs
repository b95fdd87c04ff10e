//! The cell that is set once, from outside: the whole grid of names.

#[path = "../common/mod.rs"]
mod common;
mod lazy;
mod owner;
mod turns;

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::time::Duration;

use common::Task;
use common::grid::{Got, Grid, got, ways};
use smol::future::yield_now;
use waitword::*;

/// Another value each time that an initialiser runs.
fn next() -> i32 {
    static NEXT: AtomicI32 = AtomicI32::new(10);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn fine() -> Result<i32, Infallible> {
    Ok(next())
}

/// Every way to wait for a value.
fn waits_for_a_value() -> Grid<OnceLock<i32>> {
    Grid {
        ways: ways! { OnceLock<i32>:
            attempts [get];
            blocks [wait, wait_for, wait_until => wait_async];
            awaits [wait_async];
        },
        open: || Arc::new(OnceLock::with_value(1)),
        stays_open: |_| true,
        closed: Arc::default,
        close: |cell| Box::new(|| cell.set(2).unwrap()),
        waiters: OnceLock::waiters,
    }
}

/// Every way to make one.
fn initialisers() -> Grid<OnceLock<i32>> {
    Grid {
        ways: ways! { OnceLock<i32>:
            attempts [get];
            blocks [get_or_init => get_or_init_async] (; next);
            blocks [get_or_try_init => get_or_try_init_async] (; fine);
            awaits_untimed [get_or_init_async] (; async || next());
            awaits_untimed [get_or_try_init_async] (; async || fine());
        },
        open: || Arc::new(OnceLock::with_value(1)),
        close: |cell| {
            let first = running(cell);
            Box::new(|| assert_eq!(first.finish(), &1))
        },
        ..waits_for_a_value()
    }
}

got!(OnceLock<i32>: &'a i32 => |cell, value| cell.get() == Some(value));

mod grid_of_waits {
    crate::common::grid::the_whole_grid!(waits_for_a_value);
}

mod grid_of_initialisers {
    crate::common::grid::the_whole_grid!(initialisers);
}

#[test]
fn every_initialiser_makes_the_value_once() {
    let _nobody_may_wait = forbid_blocking();
    let (initialisers, waits) = (initialisers().ways, waits_for_a_value().ways);
    for (way, timeout) in
        initialisers[1..].iter().flat_map(|way| [Duration::MAX, Duration::ZERO].map(|time| (way, time)))
    {
        let cell = Arc::new(OnceLock::new());
        assert!(way.run(&cell, timeout).is_ok(), "{}", way.name);
        let made = *cell.get().unwrap();
        for other in initialisers.iter().chain(&waits) {
            assert!(other.run(&cell, timeout).is_ok(), "{} after {}", other.name, way.name);
            assert_eq!(cell.get(), Some(&made), "{} after {}", other.name, way.name);
        }
        assert_eq!(cell.set(8), Err(8), "{}", way.name);
    }
}

/// A task whose initialiser awaits once, and has the turn.
fn running<'a>(cell: &'a OnceLock<i32>) -> Task<'a, &'a i32> {
    Task::queued(cell.get_or_init_async(async || {
        yield_now().await;
        1
    }))
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
