//! The deadlines of the process, and when which thread of the timer looks at them.
//!
//! All of it is owned by one lock, which is held for short: those who set a deadline want it, on whatever thread they are.
//! The threads are those of `callers.rs`, where the races are told.

use std::ptr::NonNull;
use std::task::Waker;
use std::thread::Thread;

use super::wheel::{Node, Wheel};
use crate::sync::Mutex;
use crate::waiter::wake::BATCH;

/// The deadlines of the process.
pub(crate) static DEADLINES: Mutex<Deadlines> = Mutex::new(Deadlines {
    wheel: Wheel::new(),
    looks_at: None,
    leader: None,
    calling: false,
    stand_by: None,
    checks_at: None,
});

/// How long the leader may take over a batch of wakers, in nanoseconds; then the stand-by takes its place.
pub(crate) const LIMIT: u64 = 5_000_000;

pub(crate) struct Deadlines {
    wheel: Wheel,
    /// When the leader looks, or is being unparked to; `None` if it does not. While it is calling, when it would look next if
    /// it came to sleep now.
    ///
    /// Not later than the earliest deadline. It may be earlier, when that one has been cleared: most are, and a look in
    /// vain now and then costs less than an unpark for each.
    looks_at: Option<u64>,
    pub(crate) leader: Option<Thread>,
    /// Whether the leader calls wakers. It looks at the wheel again before it parks.
    pub(crate) calling: bool,
    pub(crate) stand_by: Option<Thread>,
    /// When the stand-by checks on the leader, or is being unparked to; `None` if it does not.
    pub(crate) checks_at: Option<u64>,
}

/// Which threads of the timer sleep for too long.
#[must_use]
pub(crate) struct Unpark([Option<Thread>; 2]);

impl Unpark {
    /// Not under the lock: those who are unparked want it.
    pub(crate) fn unpark(self) {
        self.0.iter().flatten().for_each(Thread::unpark);
    }
}

impl Deadlines {
    /// Moves `node` to `deadline` and exchanges its waker.
    ///
    /// # Safety
    /// The node stays alive and where it is until [`remove`](Self::remove)d.
    pub(crate) unsafe fn insert(
        &mut self,
        mut node: NonNull<Node>,
        deadline: u64,
        waker: &mut Option<Waker>,
    ) -> Unpark {
        let mut unpark = Unpark([None, None]);
        // SAFETY: alive, says the caller, and the lock is held: W1 to W4 of the wheel.
        unsafe {
            std::mem::swap(&mut node.as_mut().waker, waker);
            if node.as_ref().is_linked() && node.as_ref().deadline == deadline {
                return unpark;
            }
            self.wheel.remove(node);
            node.as_mut().deadline = deadline;
            self.wheel.insert(node);
        }
        if self.looks_at.is_none_or(|looks_at| deadline < looks_at) {
            self.looks_at = Some(deadline);
            if self.calling {
                // It looks again by itself; unless it is stuck in a waker.
                unpark.0[1] = self.check_after(deadline);
            } else {
                unpark.0[0].clone_from(&self.leader);
            }
        }
        unpark
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

    /// Takes up to a batch of the wakers of those due out. Returns when to look again: at `now` if not all is done.
    pub(crate) fn take_due(&mut self, now: u64, mut due: impl FnMut(Waker)) -> Option<u64> {
        // SAFETY: the lock is held; an alarm takes its node out under it before it goes, so those in the wheel are alive.
        self.looks_at = unsafe {
            self.wheel.turn(now, BATCH, |mut node| node.as_mut().waker.take().into_iter().for_each(&mut due))
        };
        self.looks_at
    }

    /// When the leader looks at the wheel by itself.
    pub(crate) fn looks_at(&self) -> Option<u64> {
        self.looks_at
    }

    /// Somebody would be held up from `at` on if the leader got stuck: the stand-by checks not later than [`LIMIT`] after that.
    /// Returns it if it has to be unparked for that.
    pub(crate) fn check_after(&mut self, at: u64) -> Option<Thread> {
        let check = at.saturating_add(LIMIT);
        if self.checks_at.is_some_and(|checks_at| checks_at <= check) {
            return None;
        }
        self.checks_at = Some(check);
        self.stand_by.clone()
    }
}
