//! The ways to have the lock: when there is room for each, and what the state is then.

use crate::barging_window;
use crate::raw_rwlock::{
    CALLED, FAIR, FULL, LINE, MAX_READERS, ONE_READER, PACE, PACE_SHIFT, READERS, UPGRADABLE, WRITER,
};
use crate::sync::broken;

/// What one asks of the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// To read, together with others.
    Read,
    /// To read, as the one who may upgrade.
    Upgradable,
    /// To have it alone.
    Write,
    /// To have it alone, from one who has it upgradable.
    Upgrade,
}

impl Mode {
    /// Whether there is room among those who have it.
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

    /// Whether one gets in who has not waited.
    #[inline]
    pub(super) fn is_free_for_all(self, state: u64) -> bool {
        // Whoever upgrades has had its turn.
        self.has_room(state) && (state & FAIR == 0 || self == Self::Upgrade)
    }

    /// The state when one more is in.
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

    /// As [`enter`](Self::enter), for one who has not waited, and perhaps overtakes those in line. With `CALLED`, where it was
    /// not set before, this one owes the first in line a call.
    #[inline]
    pub(super) fn barge_in(self, state: u64) -> u64 {
        if state & (LINE | CALLED) == 0 || self == Self::Upgrade {
            return self.enter(state);
        }
        let (state, is_last) = overtaken(state);
        match state & (LINE | CALLED) {
            // It may be a task that nobody polls, and only of one who was called is that noticed.
            LINE if is_last && self != Self::Write => self.enter(state ^ (LINE | CALLED)),
            _ => self.enter(state),
        }
    }

    /// As [`enter`](Self::enter), for one who comes from the line. Whoever shares it owes the next one a call, now; a writer
    /// when it leaves.
    #[inline]
    pub(super) fn enter_from_line(self, state: u64) -> u64 {
        match self {
            Self::Read | Self::Upgradable => self.enter(state & !(LINE | FAIR | PACE)) | CALLED,
            Self::Write if broken!("rwlock-line") => WRITER,
            Self::Write => WRITER | LINE,
            Self::Upgrade => self.enter(state),
        }
    }
}

/// The state after one more has overtaken the first in line, and whether that was the last one who may.
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
