//! The clock.

use waitword::observe::{start_clock, start_holders, stop_clock, stop_holders};

use super::watch;
use crate::process::begin;

/// From now on waits have ages, and holders are recorded.
///
/// Each wait (not each lock) reads the clock once more, some 20 to 40 ns. Each acquisition and its release make and erase a record, some 30
/// instructions. Locks that are held already have no record. Waiters are seen in any case, with their sites.
pub fn enable() {
    begin();
    start_clock();
    start_holders();
}

/// Waits that begin from now on have no ages, holders are not recorded any more, and the thread of `WAITWORD_OBSERVE=1` ends. Sockets and signals still give reports.
pub fn disable() {
    stop_clock();
    stop_holders();
    watch::stop();
}
