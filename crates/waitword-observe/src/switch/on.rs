//! The clock.

use waitword_core::observe::{start_clock, stop_clock};

use super::watch;
use crate::process::begin;

/// From now on waits have ages. Each wait (not each lock) reads the clock once more, some 20 to 40 ns.
///
/// Observation has no other switch in this version: waiters are always seen, with their sites.
pub fn enable() {
    begin();
    start_clock();
}

/// Waits that begin from now on have no ages, and the thread of `WAITWORD_OBSERVE=1` ends. Sockets and signals still give reports.
pub fn disable() {
    stop_clock();
    watch::stop();
}
