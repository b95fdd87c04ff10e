//! How long a waiter relies on being called.

use std::time::{Duration, Instant};

/// How long a waiter trusts that whoever was called before it comes and takes the lock.
///
/// A lock that is released is offered to the first in line. If that is a task which nobody polls, the offer lies
/// there; so a waiter that has not been called for this long looks for itself, without giving up its place. After
/// each look in vain it waits twice as long for the next, up to [`LONGEST_PATIENCE`], so that a long line at a lock
/// that is held for long costs next to nothing.
///
/// The bound that follows: a task that is not polled delays those behind it by as long as they have waited already
/// and `PATIENCE` more, and never by more than `LONGEST_PATIENCE`; once for each time that it got into line.
pub const PATIENCE: Duration = Duration::from_millis(10);

/// The longest time between two looks. See [`PATIENCE`].
pub const LONGEST_PATIENCE: Duration = Duration::from_secs(1);

/// When one waiter looks for itself.
#[derive(Debug)]
pub(crate) struct Patience {
    interval: Duration,
    /// `None` until it begins to wait.
    next_look: Option<Instant>,
}

impl Patience {
    pub(crate) const fn new() -> Self {
        Self { interval: PATIENCE, next_look: None }
    }

    /// When to look next, for one who waits now.
    pub(crate) fn next_look(&mut self, now: Instant) -> Instant {
        *self.next_look.get_or_insert_with(|| now + self.interval)
    }

    /// Whether it is time to look.
    pub(crate) fn is_over(&self, now: Instant) -> bool {
        self.next_look.is_some_and(|look| look <= now)
    }

    /// It has looked, in vain.
    pub(crate) fn renew(&mut self, now: Instant) {
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
        let mut patience = Patience::new();
        let mut last = start;
        assert!(!patience.is_over(start), "before the wait");
        for look in 0..20 {
            let next = patience.next_look(last);
            assert!(!patience.is_over(last) && patience.is_over(next));
            assert_eq!(patience.next_look(next), next, "waiting does not move it");
            let apart = next - last;
            assert!(apart <= LONGEST_PATIENCE);
            assert!(apart <= PATIENCE + (last - start), "look {look}: {apart:?} after {:?}", last - start);
            patience.renew(next);
            last = next;
        }
        assert_eq!(patience.next_look(last) - last, LONGEST_PATIENCE);
    }
}
