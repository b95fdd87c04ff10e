//! The time as the timer counts it.

use crate::time::{Duration, Instant};

/// Instants as numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    pub(crate) epoch: Instant,
}

impl Clock {
    /// Nanoseconds since the epoch: exact, as instants are. What is before it is 0. What lies more than 584 years after
    /// it is the last number, which neither program nor machine will live to see.
    pub(crate) fn nanos(self, at: Instant) -> u64 {
        let since = at.saturating_duration_since(self.epoch);
        let seconds = since.as_secs().saturating_mul(Duration::from_secs(1).as_nanos() as u64);
        seconds.saturating_add(u64::from(since.subsec_nanos()))
    }

    /// `None` beyond what an [`Instant`] can hold.
    pub(crate) fn instant(self, nanos: u64) -> Option<Instant> {
        self.epoch.checked_add(Duration::from_nanos(nanos))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact_and_those_beyond_the_last_do_not_begin_again() {
        let clock = Clock { epoch: Instant::now() };
        for nanos in [0, 1, 999_999_999, 1_000_000_000, 1 << 62, u64::MAX - 1, u64::MAX] {
            let Some(at) = clock.instant(nanos) else { continue };
            assert_eq!(clock.nanos(at), nanos);
            let before = at.checked_sub(Duration::from_nanos(1));
            assert!(before.is_none_or(|before| clock.nanos(before) == nanos.saturating_sub(1)));
        }
        let last = Duration::from_nanos(u64::MAX);
        for beyond in [Duration::from_nanos(1), Duration::from_secs(1), last, 1000 * last] {
            let Some(at) = clock.epoch.checked_add(last).and_then(|at| at.checked_add(beyond)) else {
                continue;
            };
            assert_eq!(clock.nanos(at), u64::MAX);
        }
        let hour_ago = clock.epoch.checked_sub(Duration::from_secs(3600));
        assert!(hour_ago.is_none_or(|at| clock.nanos(at) == 0));
    }
}
