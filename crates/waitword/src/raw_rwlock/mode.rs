//! The modes of the lock: when each has room, and the state after it entered.

use crate::barging_window;
use crate::raw_rwlock::state::{
    FAIR, FULL, MAX_READERS, ONE_READER, PACE, PACE_SHIFT, QUEUED, READERS, SIGNALLED, UPGRADABLE, WRITER,
};
use crate::sync::mutant;

/// What an acquirer asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// To read, together with others.
    Read,
    /// To read, with the right to upgrade.
    Upgradable,
    /// To write, exclusively.
    Write,
    /// From upgradable to exclusive.
    Upgrade,
}

impl Mode {
    /// Whether the holders leave room for it.
    #[inline]
    pub(super) fn has_room(self, state: u64) -> bool {
        let in_the_way = match self {
            Self::Read => WRITER,
            Self::Upgradable => WRITER | UPGRADABLE,
            Self::Write => WRITER | UPGRADABLE | READERS,
            Self::Upgrade => READERS,
        };
        state & in_the_way == 0
    }

    /// Whether a barging acquirer may enter.
    #[inline]
    pub(super) fn allows_barging(self, state: u64) -> bool {
        // An upgrade does not compete with the queue.
        self.has_room(state) && (state & FAIR == 0 || self == Self::Upgrade)
    }

    /// The state with one more holder.
    ///
    /// # Panics
    /// When that would be too many.
    #[inline]
    pub(super) fn enter(self, state: u64) -> u64 {
        match self {
            Self::Read if state & FULL != 0 => too_many_readers(),
            Self::Read => state + ONE_READER,
            Self::Upgradable => state | UPGRADABLE,
            Self::Write => state | WRITER,
            Self::Upgrade => (state & !UPGRADABLE) | WRITER,
        }
    }

    /// As [`enter`](Self::enter), for a barging acquirer. If it sets `SIGNALLED`, it has to signal the head waiter.
    #[inline]
    pub(super) fn enter_barging(self, state: u64) -> u64 {
        if state & (QUEUED | SIGNALLED) == 0 || self == Self::Upgrade {
            return self.enter(state);
        }
        let (state, is_last) = overtaken(state);
        match state & (QUEUED | SIGNALLED) {
            // The head may be a task that is not polled; the watchdog skips it only once it was signalled.
            QUEUED if is_last && self != Self::Write => self.enter(state ^ (QUEUED | SIGNALLED)),
            _ => self.enter(state),
        }
    }

    /// As [`enter`](Self::enter), for a queued waiter. A reader has to signal the next waiter now, a writer when it releases.
    #[inline]
    pub(super) fn enter_queued(self, state: u64) -> u64 {
        mutant!("rwlock-queued-bit" => if self == Self::Write { return WRITER });
        match self {
            Self::Read | Self::Upgradable => self.enter(state & !(QUEUED | FAIR | PACE)) | SIGNALLED,
            Self::Write => WRITER | QUEUED,
            Self::Upgrade => self.enter(state),
        }
    }
}

/// The state after one more acquirer barged in, and whether that ended the barging window.
#[cold]
fn overtaken(state: u64) -> (u64, bool) {
    let (pace, is_last) = barging_window::barge(((state & PACE) >> PACE_SHIFT) as u32);
    ((state & !PACE) | u64::from(pace) << PACE_SHIFT | if is_last { FAIR } else { 0 }, is_last)
}

#[cold]
fn too_many_readers() -> ! {
    panic!(
        "{MAX_READERS} readers have the lock at once, which is as many as it can count: are their guards leaked?"
    )
}
