//! Threads that wait for each other.

use std::sync::{Arc, Barrier};
use std::thread;

use waitword::{OnceLock, RwLock};
use waitword_observe::{Report, name};

use crate::harness::{expect, has_cycle, leak, named, report_of, spawn, until_waiting};

/// Two locks, each held by one of two threads, that arrive at the second one together.
pub(crate) fn abba() -> fn(&Report) -> bool {
    let (accounts, ledger) = (named(0, "accounts"), named('a', "ledger"));
    let meet = Arc::new(Barrier::new(2));
    let other = Arc::clone(&meet);
    spawn("alpha", move || {
        let _ledger = ledger.lock(); // alpha took
        other.wait();
        let _accounts = accounts.lock(); // alpha waits
    });
    // The younger wait is the first in the report.
    spawn("beta", move || {
        let _accounts = accounts.lock(); // beta took
        meet.wait();
        until_waiting("alpha");
        let _ledger = ledger.lock(); // beta waits
    });
    has_cycle
}

#[test]
fn two_threads_that_each_hold_what_the_other_wants() {
    expect(
        "abba",
        r#"waitword: deadlocks (process #): 2 waiters at 2 locks
        deadlock: 2 members, since #
          thread "beta"   waits # for Mutex<char> "ledger" at <beta waits>
                          holds # Mutex<i32> "accounts", taken at <beta took>
          thread "alpha"  waits # for Mutex<i32> "accounts" at <alpha waits>
                          holds # Mutex<char> "ledger", taken at <alpha took>
        Mutex<i32> "accounts" at #: 1 waiter
          # held by thread "beta", taken at <beta took>
          # thread "alpha" <alpha waits>
        Mutex<char> "ledger" at #: 1 waiter
          # held by thread "alpha", taken at <alpha took>
          # thread "beta" <beta waits>"#,
    );
}

pub(crate) fn twice() -> fn(&Report) -> bool {
    let mutex = named((), "once");
    spawn("main", move || {
        let _guard = mutex.lock(); // took once
        let _guard = mutex.lock(); // took twice
    });
    has_cycle
}

#[test]
fn a_lock_taken_twice() {
    expect(
        "twice",
        r#"waitword: deadlocks (process #): 1 waiter at 1 lock
        deadlock: 1 member, since #
          thread "main" waits # for Mutex<()> "once" at <took twice>
                        holds # Mutex<()> "once", taken at <took once>
        Mutex<()> "once" at #: 1 waiter
          # held by thread "main", taken at <took once>
          # thread "main" <took twice>"#,
    );
}

/// A thread reads twice, and a writer waits between.
pub(crate) fn reads() -> fn(&Report) -> bool {
    let routes = leak(RwLock::new(0));
    name(routes, "routes").forever();
    spawn("r", move || {
        let _read = routes.read(); // r reads
        until_waiting("w");
        // Until the barging window closes.
        loop {
            drop(routes.read()); // r reads again
        }
    });
    spawn("w", move || {
        while !routes.is_locked() {
            thread::yield_now();
        }
        *routes.write() = 1; // w writes
    });
    has_cycle
}

#[test]
fn a_read_within_a_read_behind_a_writer() {
    expect(
        "reads",
        r#"waitword: deadlocks (process #): 2 waiters at 1 lock
        deadlock: thread "r" waits # for a read of RwLock<i32> "routes" at <r reads again> behind thread "w" (<w writes>),
          which waits for the read that thread "r" took at <r reads>; use try_read_recursive
        RwLock<i32> "routes" at #: 2 waiters
          # held by thread "r", taken at <r reads>
          # thread "w" <w writes>, to write
          # thread "r" <r reads again>, to read"#,
    );
}

/// Two initialisers that need each other's value.
pub(crate) fn initialisers() -> fn(&Report) -> bool {
    let cells: [&'static OnceLock<i32>; 2] = [leak(OnceLock::new()), leak(OnceLock::new())];
    name(cells[0], "first").forever();
    name(cells[1], "second").forever();
    let meet = Arc::new(Barrier::new(2));
    let other = Arc::clone(&meet);
    spawn("one", move || {
        let init = || {
            other.wait();
            *cells[1].get_or_init(|| 1) // one waits
        };
        cells[0].get_or_init(init); // one runs
    });
    spawn("two", move || {
        let init = || {
            meet.wait();
            until_waiting("one");
            *cells[0].get_or_init(|| 1) // two waits
        };
        cells[1].get_or_init(init); // two runs
    });
    has_cycle
}

#[test]
fn two_initialisers_that_wait_for_each_other() {
    let report = report_of("initialisers");
    for line in [
        r#"deadlock: 2 members, since #"#,
        r#"thread "two" waits # for OnceLock<i32> "first" at <two waits> holds # OnceLock<i32> "second", taken at <two runs>"#,
        r#"thread "one" waits # for OnceLock<i32> "second" at <one waits> holds # OnceLock<i32> "first", taken at <one runs>"#,
    ] {
        assert!(report.contains(line), "{line}\nis not in\n{report}");
    }
}

/// An upgrade waits for a reader that waits for the same thread.
pub(crate) fn upgrade() -> fn(&Report) -> bool {
    let (routes, other) = (leak(RwLock::new(0)), named(0, "other"));
    name(routes, "routes").forever();
    let meet = Arc::new(Barrier::new(2));
    let met = Arc::clone(&meet);
    spawn("u", move || {
        let _other = other.lock(); // u took
        let read = routes.upgradable_read(); // u reads
        met.wait();
        let _write = waitword::RwLockUpgradableReadGuard::upgrade(read); // u upgrades
    });
    spawn("r", move || {
        let _read = routes.read(); // reads
        meet.wait();
        until_waiting("u");
        let _other = other.lock(); // r waits
    });
    has_cycle
}

#[test]
fn an_upgrade_behind_a_reader() {
    let report = report_of("upgrade");
    for line in [
        r#"deadlock: 2 members, since #"#,
        r#"thread "r" waits # for Mutex<i32> "other" at <r waits> holds # RwLock<i32> "routes", taken at <reads>"#,
        r#"thread "u" waits # for RwLock<i32> "routes" at <u upgrades> holds # Mutex<i32> "other", taken at <u took>"#,
    ] {
        assert!(report.contains(line), "{line}\nis not in\n{report}");
    }
}
