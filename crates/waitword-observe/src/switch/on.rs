//! The clock.

use std::time::Duration;

use waitword_core::observe::holders::{start_holders, stop_holders};
use waitword_core::observe::{self, start_blame, start_clock, stop_blame, stop_clock};

use super::watch;
use crate::order;
use crate::process::begin;

/// From now on waits have ages, holders are recorded, and charged with the waits of others ([`blame`](crate::blame())).
///
/// Each wait, and each release of a lock with waiters, reads the clock once more, some 20 to 40 ns. Each acquisition and its release make
/// and erase a record, some 30 instructions. Locks that are held already have no record. Waiters are seen in any case, with their sites.
pub fn enable() {
    begin();
    start_clock();
    start_holders();
    start_blame();
}

/// Waits that begin from now on have no ages and are charged to nobody, holders are not recorded any more, the order of locks is
/// not checked, and the thread of
/// `WAITWORD_OBSERVE=1` ends. Sockets and signals still give reports.
pub fn disable() {
    order::stop();
    stop_blame();
    stop_clock();
    stop_holders();
    watch::stop();
}

/// From now on a hold that made another wait for so long is slow ([`take_slow`](crate::take_slow)); zero: none is.
///
/// ```
/// waitword_observe::set_slow_threshold(std::time::Duration::from_millis(100));
/// ```
pub fn set_slow_threshold(threshold: Duration) {
    observe::set_slow_threshold(threshold);
}
