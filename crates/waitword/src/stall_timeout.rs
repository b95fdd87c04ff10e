//! How long a waiter relies on being called.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long those in line put up with one who was called and does not come.
///
/// A lock that is released is offered to the first in line. If that is a future which nobody polls, the offer lies there.
/// The table is swept once in this time for those who were called and have not looked since, and the next in line is
/// called in their place. So those behind such a future are delayed by it for **once to twice this time**, and once only: it
/// is passed over until it is polled again. ([`Semaphore`](crate::Semaphore): up to three times, if permits are kept for it.)
///
/// # AsyncLock
/// A word that scripts share is released as `Atomics.notify` does it, which takes whom it wakes out of the line. So whoever waits
/// for an [`AsyncLock`](crate::AsyncLock) looks for itself when it has not been woken for this long, without giving up its
/// place; and after each look in vain it waits twice as long for the next, up to [`LONGEST_STALL_TIMEOUT`], so that a long line at a lock
/// that is held for long costs next to nothing. A task that is not polled delays those behind it by as long as they have
/// waited already and `STALL_TIMEOUT` more, and never by more than `LONGEST_STALL_TIMEOUT`; once for each time that it got into line.
pub const STALL_TIMEOUT: Duration = waitword_core::STALL_TIMEOUT;

/// The longest time between two looks of one who waits for an [`AsyncLock`](crate::AsyncLock). See [`STALL_TIMEOUT`].
pub const LONGEST_STALL_TIMEOUT: Duration = Duration::from_secs(1);

static SIGNALS_ALONE: AtomicBool = AtomicBool::new(false);

/// From now on nothing in this process makes up for a signal that a lock has lost: nobody sweeps, and nobody rechecks. Futures that
/// nobody polls then hold up those behind them for ever. For tests, which call it before anybody waits.
#[cfg(not(any(waitword_loom, waitword_shuttle)))]
#[doc(hidden)]
pub fn rely_on_signals_alone() {
    waitword_core::never_sweep();
    SIGNALS_ALONE.store(true, Ordering::SeqCst);
}

/// Whether those who wait look for themselves, and when.
pub(crate) trait Looks: Default {
    /// Whether they ever do.
    const LOOK: bool;

    /// When to look next, for one who waits now.
    fn next(&mut self, now: Instant) -> Option<Instant>;

    /// Whether it is time to look.
    fn is_due(&self, now: Instant) -> bool;

    /// It has looked, in vain.
    fn renew(&mut self, now: Instant);
}

/// They do not: the table's sweeps see to it that they are called.
impl Looks for () {
    const LOOK: bool = false;

    fn next(&mut self, _now: Instant) -> Option<Instant> {
        None
    }

    fn is_due(&self, _now: Instant) -> bool {
        false
    }

    fn renew(&mut self, _now: Instant) {}
}

/// When one waiter looks for itself.
#[derive(Debug)]
pub(crate) struct Patience {
    interval: Duration,
    /// `None` until it begins to wait.
    next_look: Option<Instant>,
}

impl Default for Patience {
    fn default() -> Self {
        Self { interval: STALL_TIMEOUT, next_look: None }
    }
}

impl Looks for Patience {
    const LOOK: bool = true;

    fn next(&mut self, now: Instant) -> Option<Instant> {
        // Only those who are about to sleep get here.
        if SIGNALS_ALONE.load(Ordering::Relaxed) {
            return None;
        }
        Some(*self.next_look.get_or_insert_with(|| now + self.interval))
    }

    fn is_due(&self, now: Instant) -> bool {
        self.next_look.is_some_and(|look| look <= now)
    }

    fn renew(&mut self, now: Instant) {
        self.interval = LONGEST_STALL_TIMEOUT.min(self.interval * 2);
        self.next_look = Some(now + self.interval);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_never_further_apart_than_stated() {
        let start = Instant::now();
        let mut patience = Patience::default();
        let mut last = start;
        assert!(!patience.is_due(start), "before the wait");
        for look in 0..20 {
            let next = patience.next(last).unwrap();
            assert!(!patience.is_due(last) && patience.is_due(next));
            assert_eq!(patience.next(next), Some(next), "waiting does not move it");
            let apart = next - last;
            assert!(apart <= LONGEST_STALL_TIMEOUT);
            assert!(
                apart <= STALL_TIMEOUT + (last - start),
                "look {look}: {apart:?} after {:?}",
                last - start
            );
            patience.renew(next);
            last = next;
        }
        assert_eq!(patience.next(last).unwrap() - last, LONGEST_STALL_TIMEOUT);
    }
}
