//! The time as the timer counts it, and how exact it is.
//!
//! To wake a thread of the timer costs 5 to 25 µs, to call a waker next to nothing. So alarms that are due at about the same time share
//! one wake-up: a deadline is rounded up to a multiple of a power of two, which grows with the time that is left. The coarsest is as
//! wide as a bucket of the wheel (`wheel.rs`): most deadlines enter the bucket from which they ring.

use crate::time::{Duration, Instant};

/// Instants as numbers of ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    pub(crate) epoch: Instant,
}

/// Nanoseconds in a tick.
const TICK: u64 = 32;

/// That many ticks: how the timer's own times are written.
pub(super) const fn millis(millis: u64) -> u64 {
    millis * 1_000_000 / TICK
}

impl Clock {
    /// How many ticks have passed at that time. What is before the epoch is 0. What lies more than 584 years after it is the last
    /// number, which neither program nor machine will live to see.
    pub(crate) fn passed(self, at: Instant) -> u64 {
        self.nanos(at) / TICK
    }

    /// The first tick that is not before that time.
    pub(crate) fn from(self, at: Instant) -> u64 {
        self.nanos(at).div_ceil(TICK)
    }

    fn nanos(self, at: Instant) -> u64 {
        let since = at.saturating_duration_since(self.epoch);
        let seconds = since.as_secs().saturating_mul(Duration::from_secs(1).as_nanos() as u64);
        seconds.saturating_add(u64::from(since.subsec_nanos()))
    }

    /// When that tick is. `None` beyond what an [`Instant`] can hold.
    pub(crate) fn instant(self, tick: u64) -> Option<Instant> {
        self.epoch.checked_add(Duration::from_nanos(tick.saturating_mul(TICK)))
    }
}

/// The longest by which an alarm is late on purpose: 2.1 ms.
pub(super) const COARSEST: u64 = 1 << 16;

/// When what is set `now` for `deadline` rings: then, or up to a 16th of the time that is left after it.
///
/// A multiple of a power of two: alarms that were set at different times for about the same one ring together.
#[inline]
pub(crate) fn round_up(now: u64, deadline: u64) -> u64 {
    let slack = (deadline.saturating_sub(now) / 16).min(COARSEST);
    let below = (1 << (slack | 1).ilog2()) - 1;
    // No clock comes near the last number of 64 bits.
    (deadline + below) & !below
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_exact_and_those_beyond_the_last_do_not_begin_again() {
        let clock = Clock { epoch: Instant::now() };
        for tick in [0, 1, 999_999_999, 1_000_000_000, 1 << 57] {
            let Some(at) = clock.instant(tick) else { continue };
            assert_eq!((clock.passed(at), clock.from(at)), (tick, tick));
            let after = at + Duration::from_nanos(1);
            assert_eq!((clock.passed(after), clock.from(after)), (tick, tick + 1), "early");
        }
        let last = Duration::from_nanos(u64::MAX);
        for beyond in [Duration::ZERO, Duration::from_secs(1), last, 1000 * last] {
            let Some(at) = clock.epoch.checked_add(last).and_then(|at| at.checked_add(beyond)) else {
                continue;
            };
            assert_eq!((clock.passed(at), clock.from(at)), (u64::MAX / TICK, u64::MAX / TICK + 1));
            assert!(clock.instant(clock.from(at)) >= clock.instant(clock.passed(at)));
        }
        let hour_ago = clock.epoch.checked_sub(Duration::from_secs(3600));
        assert!(hour_ago.is_none_or(|at| (clock.passed(at), clock.from(at)) == (0, 0)));
    }

    #[test]
    fn an_alarm_is_never_early_and_late_by_a_16th_at_most() {
        for now in [0, 1, 12_345_678_901, 1 << 58] {
            for deadline in (0..59).flat_map(|bit| [(1_u64 << bit) - 1, 1 << bit, (3 << bit | 5) >> 2]) {
                let rings = round_up(now, deadline);
                let left = deadline.saturating_sub(now);
                assert!(
                    deadline <= rings && rings - deadline <= (left / 16).min(COARSEST),
                    "{now} {deadline} {rings}"
                );
            }
        }
    }

    #[test]
    fn alarms_that_ring_at_about_the_same_time_ring_together() {
        let set = (0..millis(2)).step_by(1000);
        let rings: std::collections::BTreeSet<_> = set.map(|now| round_up(now, now + millis(100))).collect();
        assert!(rings.len() <= 2, "{rings:?}");
    }
}
