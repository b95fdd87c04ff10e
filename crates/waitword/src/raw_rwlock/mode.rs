//! The bits of the state word, whose meaning is in the table of `mod.rs`, and the modes of the lock: when each has room, and the
//! state after it entered.

use crate::acquire::{Behind, Kind};
use crate::barging_window;
use crate::sync::mutant;

pub(super) const WRITER: u64 = 1;
pub(super) const UPGRADABLE: u64 = 1 << 1;
pub(super) const QUEUED: u64 = 1 << 2;
pub(super) const SIGNALLED: u64 = 1 << 3;
pub(super) const FAIR: u64 = 1 << 4;
pub(super) const TASKS: u64 = 1 << 5;
pub(super) const PASS: u64 = 1 << 6;
/// What a waiter compares.
pub(super) const WAITED: u64 = QUEUED | PASS;
pub(super) const PACE_SHIFT: u32 = 7;
pub(super) const PACE: u64 = ((1 << barging_window::BITS) - 1) << PACE_SHIFT;
pub(super) const ONE_READER: u64 = 1 << (PACE_SHIFT + barging_window::BITS);
pub(super) const READERS: u64 = !(ONE_READER - 1);
/// There are [`MAX_READERS`].
pub(super) const FULL: u64 = 1 << 63;
pub(super) const HOLDERS: u64 = WRITER | UPGRADABLE | READERS;
/// The bits that do not change when a waiter uses a signal, or forwards it.
pub(super) const KEPT: u64 = HOLDERS | TASKS;

/// The maximum number of readers at a time: 2^29.
pub(crate) const MAX_READERS: u64 = FULL / ONE_READER;

/// The mode in which an acquirer requests the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Shared.
    Read,
    /// Shared, with the right to upgrade.
    Upgradable,
    /// Exclusive.
    Write,
    /// From upgradable to exclusive.
    Upgrade,
}

impl Mode {
    /// Whether the holders leave room for this mode.
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
        self.has_room(state)
            && match self {
                Self::Read => state & FAIR == 0 || state & PASS != 0,
                Self::Upgradable | Self::Write => state & FAIR == 0,
                // An upgrade does not compete with the queue.
                Self::Upgrade => true,
            }
    }

    /// Whether an acquirer in this mode is an upgradable reader that waits for another, but not for a writer. Plain readers may pass it.
    #[inline]
    pub(super) fn waits_for_upgradable(self, state: u64) -> bool {
        self == Self::Upgradable && state & (UPGRADABLE | WRITER) == UPGRADABLE
    }

    /// The state with one more waiter, at the tail of the queue.
    pub(super) fn enqueue(self, state: u64) -> u64 {
        match self {
            Self::Upgradable if self.waits_for_upgradable(state) && state & (QUEUED | SIGNALLED) == 0 => {
                state | QUEUED | PASS
            }
            Self::Read | Self::Write if state & PASS != 0 => {
                // The barging window begins. Nothing is reserved any more, unless a waiter was signalled, because the new waiter may be a
                // task that is not polled.
                (state & !PASS & if state & SIGNALLED == 0 { !FAIR } else { !0 }) | QUEUED
            }
            _ => state | QUEUED,
        }
    }

    /// The state with a waiter that was signalled and has no room. The next release that makes room signals again.
    pub(super) fn wait_on(self, state: u64) -> u64 {
        if !self.waits_for_upgradable(state) {
            return (state & KEPT) | QUEUED | FAIR;
        }
        // A waiter behind this one was signalled, or runs, or is new.
        let are_others = state & (QUEUED | SIGNALLED | FAIR) != 0;
        (state & !SIGNALLED) | QUEUED | if are_others { 0 } else { FAIR | PASS }
    }

    /// What a signalled waiter that has no room in this state means for those behind it.
    pub(super) fn behind(self, state: u64) -> Behind {
        if self == Self::Upgrade || !Self::Read.has_room(state) {
            Behind::Wait
        } else if self.waits_for_upgradable(state) {
            Behind::Pass { is_new: state & (QUEUED | SIGNALLED | FAIR) == QUEUED }
        } else {
            Behind::HeldUp
        }
    }

    /// The state with one more holder.
    ///
    /// # Panics
    /// If there would be too many readers. An upgradable reader may become one of them, so there must be room for it, too.
    #[inline]
    pub(super) fn enter(self, state: u64) -> u64 {
        match self {
            Self::Read | Self::Upgradable if state & FULL != 0 => too_many_readers(),
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
        if self == Self::Read && state & PASS != 0 {
            return self.enter(state);
        }
        let (state, is_last) = barge(state);
        match state & (QUEUED | SIGNALLED) {
            // The head may be a task that is not polled; the watchdog skips it only once it was signalled.
            QUEUED if is_last && self != Self::Write => self.enter(state ^ (QUEUED | SIGNALLED)),
            _ => self.enter(state),
        }
    }

    /// As [`enter`](Self::enter), for a queued waiter. A reader has to signal the next waiter now, a writer when it releases.
    #[inline]
    pub(super) fn enter_queued(self, state: u64, kind: Kind) -> u64 {
        mutant!("rwlock-queued-bit" => if self == Self::Write { return WRITER });
        let tasks = if kind == Kind::Task { TASKS } else { 0 };
        match self {
            Self::Read | Self::Upgradable => {
                self.enter(state & !(QUEUED | FAIR | PASS | PACE)) | tasks | SIGNALLED
            }
            Self::Write => (state & TASKS) | tasks | WRITER | QUEUED,
            Self::Upgrade => self.enter(state),
        }
    }

    /// Whether a waiter that has entered from the queue has to signal the next one.
    pub(super) fn is_shared(self) -> bool {
        matches!(self, Self::Read | Self::Upgradable)
    }
}

/// The state after one more acquirer barged in, and whether that ended the barging window.
#[cold]
fn barge(state: u64) -> (u64, bool) {
    let (pace, is_last) = barging_window::barge(((state & PACE) >> PACE_SHIFT) as u32);
    ((state & !PACE) | u64::from(pace) << PACE_SHIFT | if is_last { FAIR } else { 0 }, is_last)
}

#[cold]
fn too_many_readers() -> ! {
    panic!("{MAX_READERS} readers hold the lock, and it can count no more: were their guards leaked?")
}
