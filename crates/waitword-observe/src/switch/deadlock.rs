//! What is to happen when a deadlock is found.

use std::io::{self, Write};

use super::enable;
use super::watch::{self, Found};
use crate::finding::{Cycle, Finding};
use crate::report::report;

/// Calls `f` with each cycle that is found, once while it stands; not only with deadlocks: [`Cycle::is_certain`] says whether anything is
/// known that could end it.
///
/// [`enable`]s observation, and starts the thread that looks once per second, so a cycle is found one to two seconds after it is complete.
/// `f` runs on that thread, and may take locks and make a [`report`]; while it waits, nothing else is found. If it panics, the
/// panic ends there. [`disable`](crate::disable) forgets it.
///
/// # Errors
/// If the system cannot start the thread.
///
/// ```
/// waitword_observe::on_deadlock(|cycle| eprintln!("{} members are stuck", cycle.members.len()))?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn on_deadlock(f: impl Fn(&Cycle) + Send + Sync + 'static) -> io::Result<()> {
    enable();
    watch::start(move |found| {
        if let Found::New(Finding::Cycle(cycle)) = found {
            f(cycle);
        }
    })
}

/// Aborts the process when a deadlock is found that nothing known can end ([`Cycle::is_certain`]), with a report on the standard error:
/// for tests and CI, where a deadlock would hang until a timeout that says nothing. Of other cycles [`on_deadlock`] tells.
///
/// A program that sends borrowed guards to other threads may be aborted although it is none: that such a guard is elsewhere is not known
/// before one that was acquired at the same line was released there. Owned guards (`lock_owned`) are made to be sent, and make no deadlock
/// that is certain. What is printed says so, too.
///
/// As [`on_deadlock`]. Not for production: a report is what helps there, and an aborted process is no better than a stuck one.
///
/// # Errors
/// If the system cannot start the thread.
///
/// ```
/// waitword_observe::abort_on_deadlock()?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn abort_on_deadlock() -> io::Result<()> {
    enable();
    watch::start(|found| {
        watch::print(found);
        if matches!(found, Found::New(Finding::Cycle(cycle)) if cycle.is_certain()) {
            let unless = "it is none if a borrowed guard is with another thread: send owned guards";
            let _ = writeln!(io::stderr().lock(), "{}\nwaitword: aborted for a deadlock; {unless}", report());
            std::process::abort();
        }
    })
}
