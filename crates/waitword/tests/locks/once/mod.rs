//! The cells that are set once: their values, in whose hands ever.

mod lazy;
mod owner;
mod turns;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use smol::future::yield_now;
use waitword::*;

use crate::common::Task;
use crate::rows;

#[test]
fn every_initialiser_makes_the_value_once() {
    let _nobody_may_wait = forbid_blocking();
    let (initialisers, waits) = (rows::initialiser().ways, rows::cell().ways);
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
