//! The turn of an initialiser that panics, fails, is dropped or is not polled.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::thread;
use std::time::Duration;

use smol::future::yield_now;
use waitword::*;

use super::running;
use crate::common::{Task, block_on, waits};
use crate::rows::initialiser;

#[test]
fn every_queued_initialiser_gets_the_turn_of_one_that_is_dropped() {
    for way in &initialiser().ways[1..] {
        let cell = Arc::new(OnceLock::new());
        let first = running(&cell);
        thread::scope(|scope| {
            let waiter = waits(scope, || cell.waiters() == 1, || way.run(&cell, Duration::MAX).is_ok());
            drop(first);
            assert!(waiter.join().unwrap(), "{}", way.name);
        });
        assert!(cell.get().is_some_and(|&value| value != 1), "{}", way.name);
    }
}

#[test]
fn a_value_waits_for_no_initialiser() {
    let cell = OnceLock::new();
    let first = running(&cell);
    assert_eq!(cell.set(2), Err(2), "an initialiser runs");
    assert_eq!(first.finish(), &1);
}

#[test]
fn an_initialiser_that_panics_or_fails_gives_up_its_turn() {
    let cell = OnceLock::new();
    assert!(catch_unwind(AssertUnwindSafe(|| cell.get_or_init(|| panic!("initialiser")))).is_err());
    assert_eq!(cell.get_or_try_init(|| Err("no")), Err("no"));
    assert_eq!(block_on(cell.get_or_try_init_async(async || Err("no"))), Err("no"));
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
    let mut unpolled = Task::queued(cell.get_or_init_async(async || 2));
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
        let mut dropped = Task::queued(cell.get_or_init_async(async || {
            yield_now().await;
            yield_now().await;
            2
        }));
        let mut behind = Task::queued(cell.get_or_init_async(async || 3));
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
