//! The cells in the hands of their only owner, and what they show of themselves, beside the standard library's.

use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::sync;
use std::task::{Context, Waker};

use smol::future::yield_now;
use waitword::{LazyLock, OnceLock};

#[test]
fn cells_are_shown_as_the_standard_librarys_are() {
    let (ours, stds) = (OnceLock::new(), sync::OnceLock::new());
    let same =
        |state: &str| assert_eq!(format!("{ours:?} {ours:#?}"), format!("{stds:?} {stds:#?}"), "{state}");
    same("not set");
    ours.set("value").unwrap();
    stds.set("value").unwrap();
    same("set");
    let (ours, stds) = (LazyLock::new(|| [1, 2]), sync::LazyLock::new(|| [1, 2]));
    let same =
        |state: &str| assert_eq!(format!("{ours:?} {ours:#?}"), format!("{stds:?} {stds:#?}"), "{state}");
    same("not made");
    assert_eq!(*ours, *stds);
    same("made");
}

#[test]
fn a_value_that_cannot_be_inserted_comes_back_with_the_one_that_is_there() {
    let cell = OnceLock::new();
    assert!(!cell.is_set());
    // An initialiser runs: there is no value yet, and no waiter.
    let mut initialiser = pin!(cell.get_or_init_async(async || {
        yield_now().await;
        "initialised".to_owned()
    }));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(initialiser.as_mut().poll(&mut cx).is_pending());
    assert_eq!(cell.try_insert("early".to_owned()), Err((None, "early".to_owned())));
    assert!(!cell.is_set());
    assert!(initialiser.as_mut().poll(&mut cx).is_ready());
    let there = "initialised".to_owned();
    assert_eq!(cell.try_insert("late".to_owned()), Err((Some(&there), "late".to_owned())));
    assert!(cell.is_set());
    assert_eq!(OnceLock::new().try_insert("first"), Ok(&"first"));
}

#[test]
fn the_only_owner_takes_the_value() {
    let mut cell = OnceLock::new();
    assert!(!cell.is_set() && cell.get_mut().is_none());
    cell.get_or_init(|| "12".to_owned());
    cell.get_mut().unwrap().push('3');
    // Others see it as if it had been set while they watched.
    assert_eq!(
        (cell.get(), cell.wait(), cell.set("4".to_owned())),
        (Some(&"123".to_owned()), &"123".to_owned(), Err("4".to_owned()))
    );
    assert_eq!((cell.take(), cell.take(), cell.is_set()), (Some("123".to_owned()), None, false));
    assert_eq!(cell.try_insert("5".to_owned()), Ok(&"5".to_owned()));
    assert_eq!(cell.into_inner(), Some("5".to_owned()));
}

/// The turn is gone for good with a future that is leaked. But the borrow has ended, so no other can have it.
#[test]
fn the_only_owner_sets_a_cell_whose_turn_was_leaked() {
    let mut cell = OnceLock::new();
    let mut leaked = Box::pin(cell.get_or_init_async(async || {
        yield_now().await;
        1
    }));
    assert!(leaked.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    std::mem::forget(leaked);
    assert_eq!(cell.set(2), Err(2), "an initialiser runs, as far as the cell knows");
    assert_eq!(cell.take(), None);
    assert_eq!(cell.set(3), Ok(()));
}

#[test]
fn a_lazy_value_is_forced_by_its_only_owner() {
    let runs = Cell::new(0);
    let make = || {
        runs.set(runs.get() + 1);
        vec![runs.get()]
    };
    let mut lazy = LazyLock::new(make);
    assert_eq!(LazyLock::get_mut(&mut lazy), None);
    LazyLock::force_mut(&mut lazy).push(7);
    lazy.push(8);
    assert_eq!((lazy.as_slice(), runs.get()), (&[1, 7, 8][..], 1));
    let mut lazy = LazyLock::new(make);
    assert_eq!((lazy.len(), LazyLock::force_mut(&mut lazy).pop(), runs.get()), (1, Some(2), 2));
}

#[test]
fn cells_are_made_with_a_value() {
    static NAME: OnceLock<&str> = OnceLock::with_value("waitword");
    assert_eq!((NAME.get(), NAME.wait()), (Some(&"waitword"), &"waitword"));
    let lazy: LazyLock<String> = LazyLock::from("made".to_owned());
    assert_eq!((LazyLock::get(&lazy).map(String::as_str), lazy.len()), (Some("made"), 4));
    assert_eq!(LazyLock::into_inner(lazy).ok().as_deref(), Some("made"));
}
