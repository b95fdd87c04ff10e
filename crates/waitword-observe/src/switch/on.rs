//! The clock.

use std::time::Duration;

use waitword_core::observe::{self, start_blame, start_clock, stop_blame, stop_clock};

use super::watch;
use crate::process::begin;

/// From now on waits have ages, and holders are charged with the waits of others ([`blame`](crate::blame())). Each wait and each release of
/// a lock with waiters reads the clock, some 20 to 40 ns; other releases do not.
pub fn enable() {
    begin();
    start_clock();
    start_blame();
}

/// Waits that begin from now on have no ages and are charged to nobody, and the thread of `WAITWORD_OBSERVE=1` ends. Sockets and signals
/// still give reports.
pub fn disable() {
    stop_blame();
    stop_clock();
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
