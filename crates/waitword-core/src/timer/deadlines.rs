//! The deadlines of the process, and when which thread of the timer checks them.
//!
//! All of it is owned by one lock, which is held for short, because any thread may set a deadline. The threads are those of
//! `callers.rs`, where the races are described.

use std::ptr::NonNull;
use std::task::Waker;

use super::clock::{millis, round_up};
use super::wheel::{Node, Wheel};
use crate::sync::{Mutex, Timekeeper};
use crate::waiter::wake::BATCH;

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
    /// Not later than the earliest deadline. It may be earlier, when that one has been cleared: most are, and a check in
    /// vain now and then costs less than an unpark for each.
    wakes_at: Option<u64>,
    pub(crate) leader: Option<Timekeeper>,
    /// Whether the leader calls wakers. It checks the wheel again before it parks.
    pub(crate) calling: bool,
    pub(crate) stand_by: Option<Timekeeper>,
    /// When the stand-by checks on the leader, or is being unparked to; `None` if it does not.
    pub(crate) checks_at: Option<u64>,
}

/// The thread of the timer that would sleep for too long, if one would.
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
    /// Moves `node` to the time at which what is set `now` for `deadline` rings, and exchanges its waker.
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
        // SAFETY: alive, says the caller, and the lock is held: W1 to W4 of the wheel.
        unsafe {
            std::mem::swap(&mut node.as_mut().waker, waker);
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
        // A leader that calls wakers checks the wheel again by itself; unless it is stuck in a waker.
        Unpark(if self.calling { self.check_after(rings) } else { self.leader.clone() })
    }

    /// Takes `node` out if it is in. Returns its waker, to be dropped without the lock.
    ///
    /// # Safety
    /// The node is alive.
    pub(crate) unsafe fn remove(&mut self, mut node: NonNull<Node>) -> Option<Waker> {
        // SAFETY: alive, says the caller, and the lock is held: W1 to W4 of the wheel.
        unsafe {
            self.wheel.remove(node);
            node.as_mut().waker.take()
        }
    }

    /// Takes up to a batch of the wakers of those due out. Returns when to check again: at `now` if not all is done.
    pub(crate) fn take_due(&mut self, now: u64, mut due: impl FnMut(Waker)) -> Option<u64> {
        // SAFETY: the lock is held; an alarm takes its node out under it before it goes, so those in the wheel are alive.
        self.wakes_at = unsafe {
            self.wheel.turn(now, BATCH, |mut node| node.as_mut().waker.take().into_iter().for_each(&mut due))
        };
        self.wakes_at
    }

    /// When the leader wakes up and checks the wheel by itself.
    pub(crate) fn wakes_at(&self) -> Option<u64> {
        self.wakes_at
    }

    /// If the leader got stuck, a waker would be delayed from `at` on: the stand-by checks not later than [`LIMIT`] after that.
    /// Returns it if it has to be unparked for that.
    pub(crate) fn check_after(&mut self, at: u64) -> Option<Timekeeper> {
        let check = at.saturating_add(LIMIT);
        if self.checks_at.is_some_and(|checks_at| checks_at <= check) {
            return None;
        }
        self.checks_at = Some(check);
        self.stand_by.clone()
    }
}

/// The change of places between the leader and the stand-by, for which a browser has no second thread.
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
impl Deadlines {
    /// When the stand-by checks on a leader that wakes up at `at`: when there may be work for it then, if that is known; [`LIMIT`] after
    /// that, if not.
    pub(crate) fn check_time(&self, at: u64) -> u64 {
        let latest = at.saturating_add(LIMIT);
        self.wheel.last_check(at, latest).unwrap_or(latest)
    }

    /// Whether there is a stand-by that wakes up by then. There is none after one has taken over, until the next call of a waker.
    pub(crate) fn stand_by_wakes_by(&self, at: u64) -> bool {
        self.stand_by.is_some() && self.checks_at.is_some_and(|checks_at| checks_at <= at)
    }

    /// The stand-by, which wakes up before there is work at `next`, is the leader, and the leader the stand-by.
    pub(crate) fn swap(&mut self, next: u64) {
        std::mem::swap(&mut self.leader, &mut self.stand_by);
        self.wakes_at = self.checks_at;
        self.checks_at = Some(self.check_time(next));
    }
}
