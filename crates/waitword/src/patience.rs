//! How long a waiter relies on being called.

use std::time::{Duration, Instant};

/// How long a waiter trusts that whoever was called before it comes and takes the lock.
///
/// A lock that is released is offered to the first in line. If that is a task which nobody polls, the offer lies
/// there; so a waiter that has not been called for this long looks for itself, without giving up its place. After
/// each look in vain it waits twice as long for the next, up to [`LONGEST_PATIENCE`], so that a long line at a lock
/// that is held for long costs next to nothing.
///
/// [`AsyncLock`](crate::AsyncLock) keeps to this; in the other locks nobody has to look, because the table is swept for those
/// who were called and do not come, once in this time.
///
/// The bound that follows: a task that is not polled delays those behind it by as long as they have waited already
/// and `PATIENCE` more, and never by more than `LONGEST_PATIENCE`; once for each time that it got into line.
pub const PATIENCE: Duration = waitword_core::PATIENCE;

/// The longest time between two looks. See [`PATIENCE`].
pub const LONGEST_PATIENCE: Duration = Duration::from_secs(1);

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
        Self { interval: PATIENCE, next_look: None }
    }
}

impl Looks for Patience {
    const LOOK: bool = true;

    fn next(&mut self, now: Instant) -> Option<Instant> {
        Some(*self.next_look.get_or_insert_with(|| now + self.interval))
    }

    fn is_due(&self, now: Instant) -> bool {
        self.next_look.is_some_and(|look| look <= now)
    }

    fn renew(&mut self, now: Instant) {
        self.interval = LONGEST_PATIENCE.min(self.interval * 2);
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
            assert!(apart <= LONGEST_PATIENCE);
            assert!(apart <= PATIENCE + (last - start), "look {look}: {apart:?} after {:?}", last - start);
            patience.renew(next);
            last = next;
        }
        assert_eq!(patience.next(last).unwrap() - last, LONGEST_PATIENCE);
    }
}
