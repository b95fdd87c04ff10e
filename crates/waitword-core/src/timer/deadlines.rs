//! The deadlines of the process, and the times at which the threads of the timer check them.
//!
//! One lock owns all of it. The lock is held only briefly, because any thread may set a deadline. The threads are those of `callers.rs`,
//! where the races are described.
//!
//! # The time, and how exact it is
//! Waking a thread of the timer costs 5 to 25 µs, calling a waker next to nothing. So alarms that are due at about the same time share one
//! wake-up: a deadline is rounded up to a multiple of a power of two, which grows with the time that is left. The coarsest is as wide as a
//! bucket of the wheel (`wheel.rs`): most deadlines enter the bucket from which they ring.

use std::collections::VecDeque;
use std::ptr::NonNull;
use std::task::Waker;

use super::wheel::{Node, Wheel};
use crate::sync::{Mutex, Timekeeper};
use crate::time::{Duration, Instant};
use crate::wake::{BATCH, Wake};

/// The deadlines of the process.
pub(crate) static DEADLINES: Mutex<Deadlines> = Mutex::new(Deadlines {
    wheel: Wheel::new(),
    wakes_at: None,
    leader: None,
    calling: false,
    stand_by: None,
    checks_at: None,
});

/// How long the leader may take over a batch of wakers, in ticks: 5 ms. Then the stand-by takes its place.
pub(crate) const LIMIT: u64 = millis(5);

pub(crate) struct Deadlines {
    wheel: Wheel,
    /// When the leader wakes up to check the wheel; `None` if nothing is in the wheel. While the leader is calling: when it
    /// would wake up if it went to sleep now.
    ///
    /// Not later than the earliest deadline. It may be earlier, if that deadline has been cleared. Most deadlines are cleared, and a check
    /// in vain now and then costs less than an unpark for each.
    wakes_at: Option<u64>,
    pub(crate) leader: Option<Timekeeper>,
    /// Whether the leader calls wakers. It checks the wheel again before it parks.
    pub(crate) calling: bool,
    pub(crate) stand_by: Option<Timekeeper>,
    /// When the stand-by checks on the leader, or is being unparked to; `None` if it does not.
    pub(crate) checks_at: Option<u64>,
}

/// The thread of the timer that would sleep for too long unless unparked, if there is one.
#[must_use]
pub(crate) struct Unpark(Option<Timekeeper>);

impl Unpark {
    /// Not under the lock, which the unparked thread acquires.
    #[inline]
    pub(crate) fn unpark(self) {
        if let Some(thread) = self.0 {
            thread.unpark();
        }
    }
}

impl Deadlines {
    /// Sets `node` to ring for `deadline`, as seen at `now`, and exchanges its waker.
    ///
    /// # Safety
    /// The node stays alive and where it is until [`remove`](Self::remove)d.
    pub(crate) unsafe fn insert(
        &mut self,
        mut node: NonNull<Node>,
        now: u64,
        deadline: u64,
        waker: &mut Option<Waker>,
    ) -> Unpark {
        let rings = round_up(now, deadline);
        // SAFETY: alive, as the caller guarantees, and the lock is held: W1 to W4 of the wheel.
        unsafe {
            std::mem::swap(&mut node.as_mut().waker, waker);
            node.as_ref().owner.set_here();
            if node.as_ref().is_set_for(deadline) {
                return Unpark(None);
            }
            self.wheel.remove(node);
            node.as_mut().set_time(deadline, rings);
            self.wheel.insert(node);
        }
        if self.wakes_at.is_some_and(|wakes_at| wakes_at <= rings) {
            return Unpark(None);
        }
        self.wakes_at = Some(rings);
        // A leader that calls wakers checks the wheel again by itself, unless it gets stuck in one.
        Unpark(if self.calling { self.check_after(rings) } else { self.leader.clone() })
    }

    /// Removes `node` if it is in the wheel. Returns its waker, to be dropped without the lock.
    ///
    /// # Safety
    /// The node is alive.
    pub(crate) unsafe fn remove(&mut self, mut node: NonNull<Node>) -> Option<Waker> {
        // SAFETY: alive, as the caller guarantees, and the lock is held: W1 to W4 of the wheel.
        unsafe {
            self.wheel.remove(node);
            node.as_mut().waker.take()
        }
    }

    /// Passes the wakers that are due, up to a batch, to `due`. Returns when to check again: `now` if not all is done.
    pub(crate) fn take_due(&mut self, now: u64, mut due: impl FnMut(Waker)) -> Option<u64> {
        // SAFETY: the lock is held; an alarm takes its node out under it before it is freed, so those in the wheel are alive.
        self.wakes_at = unsafe {
            self.wheel.turn(now, BATCH, |mut node| node.as_mut().waker.take().into_iter().for_each(&mut due))
        };
        self.wakes_at
    }

    /// When the leader wakes up and checks the wheel by itself.
    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    pub(crate) fn wakes_at(&self) -> Option<u64> {
        self.wakes_at
    }

    /// In the child of a fork: there is no thread of the timer, and the deadlines of other threads, which are on stacks that the child
    /// reuses, are forgotten.
    #[cfg(all(unix, not(waitword_loom)))]
    pub(crate) fn in_child(&mut self) {
        // SAFETY: the lock is held, and what is in the wheel is as it was at the fork: alive.
        unsafe { self.wheel.keep_own() };
        // The first turn of the next leader sets the rest.
        (self.leader, self.stand_by) = (None, None);
    }

    /// If the leader got stuck, a waker would be delayed from `at` on: has the stand-by check not later than [`LIMIT`] after that. Returns
    /// the stand-by if it has to be unparked for this.
    pub(crate) fn check_after(&mut self, at: u64) -> Option<Timekeeper> {
        let check = at.saturating_add(LIMIT);
        if self.checks_at.is_some_and(|checks_at| checks_at <= check) {
            return None;
        }
        self.checks_at = Some(check);
        self.stand_by.clone()
    }
}

/// Calls the wakers whose deadlines have passed, where no thread of the timer does. Returns when the next one is due, if there is one. The queue has
/// the wakes that are due and not called yet, and those that these wakers add.
pub(super) fn expire(clock: Clock, queue: impl Fn(&mut dyn FnMut(&mut VecDeque<Wake>))) -> Option<Instant> {
    loop {
        let (mut next, mut is_done) = (None, false);
        queue(&mut |queue| {
            let now = clock.passed(Instant::now());
            let mut deadlines = DEADLINES.lock();
            next = deadlines.take_due(now, |waker| queue.push_back(Wake::Task(waker)));
            // Deadlines that wakers set need no ring: the wheel is checked again after them.
            deadlines.calling = !queue.is_empty();
            is_done = queue.is_empty() && next != Some(now);
        });
        if is_done {
            return next.and_then(|next| clock.instant(next));
        }
        let pop = || {
            let mut first = None;
            queue(&mut |queue| first = queue.pop_front());
            first
        };
        while let Some(wake) = pop() {
            wake.wake();
        }
    }
}

/// Instants as numbers of ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    pub(crate) epoch: Instant,
}

/// Nanoseconds in a tick.
const TICK: u64 = 32;

/// Milliseconds in ticks.
pub(super) const fn millis(millis: u64) -> u64 {
    millis * 1_000_000 / TICK
}

impl Clock {
    /// The ticks from the epoch to `at`, rounded down. 0 for a time before the epoch; the maximum for one more than 584 years after it.
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

/// When an alarm that is set at `now` for `deadline` rings:
///
/// ```text
///   deadline  ≤  rings  ≤  deadline + min((deadline - now) / 16, COARSEST)
/// ```
///
/// The result is a multiple of a power of two, so that alarms that were set at different times for about the same deadline ring together.
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
