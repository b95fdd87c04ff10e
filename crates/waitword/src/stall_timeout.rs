//! The stall timeout: how long an unresponsive waiter can delay the waiters behind it.

use std::sync::atomic::{AtomicBool, Ordering};
use waitword_core::time::{Duration, Instant};

use crate::sync::MODEL;

/// How often signalled waiters are checked, 10 ms. If one is unresponsive, the next waiter is signalled in its place.
///
/// A release signals the head waiter. A future that is not polled does not respond. A watchdog makes a pass over the waiters once in
/// 10 ms, and signals the waiter behind one that was signalled before the last pass and has not responded. So such a future delays the
/// waiters behind it by **10 to 20 ms**. It does so only once: it is skipped until it is polled again.
/// (At a [`Semaphore`](crate::Semaphore) the delay is up to 30 ms, if permits are reserved for the future.)
///
/// # AsyncLock
/// The release of a word that scripts share works like `Atomics.notify`, which dequeues the waiter that it wakes. So a waiter of an
/// [`AsyncLock`](crate::word::AsyncLock) rechecks on its own if it has not been woken for this long, and keeps its position.
/// After each recheck in vain it doubles the interval, up to [`LONGEST_STALL_TIMEOUT`] (1 s), so a long queue at a lock
/// that is held for long costs almost nothing. If a woken task is not polled, the waiters behind it continue at their next recheck. So the
/// task delays a waiter by at most 10 ms more than that waiter has already waited, and never by more than 1 s. The task can do so again
/// only after it was enqueued again.
pub const STALL_TIMEOUT: Duration = waitword_core::STALL_TIMEOUT;

/// The longest time between two rechecks of a waiter of an [`AsyncLock`](crate::word::AsyncLock), 1 s. See [`STALL_TIMEOUT`].
pub const LONGEST_STALL_TIMEOUT: Duration = Duration::from_secs(1);

static SIGNALS_ALONE: AtomicBool = AtomicBool::new(false);

/// From now on nothing in this process makes up for a signal that a lock has lost: there is no watchdog and no recheck. A future
/// that is not polled then delays the waiters behind it for ever. For tests, which call this before there is a waiter.
#[cfg(not(waitword_loom))]
#[doc(hidden)]
pub fn disable_stall_timeout() {
    waitword_core::disable_watchdog();
    SIGNALS_ALONE.store(true, Ordering::SeqCst);
}

/// When a queued waiter rechecks without a signal: at the stall timeout, and then after intervals that double.
#[derive(Debug)]
pub(crate) struct StallTimeout {
    interval: Duration,
    /// `None` until the wait begins.
    next: Option<Instant>,
}

impl StallTimeout {
    pub(crate) const fn new() -> Self {
        Self { interval: STALL_TIMEOUT, next: None }
    }

    /// The time of the next recheck, for a waiter that goes on waiting now.
    pub(crate) fn next(&mut self, now: Instant) -> Option<Instant> {
        // Only waiters that are about to sleep get here.
        if MODEL || SIGNALS_ALONE.load(Ordering::Relaxed) {
            return None;
        }
        Some(*self.next.get_or_insert_with(|| now + self.interval))
    }

    /// Whether a recheck is due.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.next.is_some_and(|next| next <= now)
    }

    /// The waiter has rechecked in vain.
    pub(crate) fn renew(&mut self, now: Instant) {
        self.interval = LONGEST_STALL_TIMEOUT.min(self.interval * 2);
        self.next = Some(now + self.interval);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rechecks_are_never_further_apart_than_stated() {
        let start = Instant::now();
        let mut rechecks = StallTimeout::new();
        let mut last = start;
        assert!(!rechecks.is_due(start), "before the wait");
        for round in 0..20 {
            let next = rechecks.next(last).unwrap();
            assert!(!rechecks.is_due(last) && rechecks.is_due(next));
            assert_eq!(rechecks.next(next), Some(next), "waiting does not move it");
            let apart = next - last;
            assert!(apart <= LONGEST_STALL_TIMEOUT);
            assert!(
                apart <= STALL_TIMEOUT + (last - start),
                "recheck {round}: {apart:?} after {:?}",
                last - start
            );
            rechecks.renew(next);
            last = next;
        }
        assert_eq!(rechecks.next(last).unwrap() - last, LONGEST_STALL_TIMEOUT);
    }
}
