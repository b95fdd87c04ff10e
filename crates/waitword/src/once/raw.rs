//! The cell that is set once, as a word without the value.
//!
//! |                    | nothing (0)                  | `RUNNING` (1)             | `SET` (2) |
//! |--------------------|------------------------------|---------------------------|-----------|
//! | means              | there is no value            | an initialiser runs       | there is  |
//! | who would set it   | → `RUNNING`; has the turn    | → + `WAITERS`; lines up   | goes on   |
//! | who waits for it   | → + `WAITERS`; lines up      | → + `WAITERS`; lines up   | goes on   |
//! | the turn completes | –                            | → `SET`; calls all        | –         |
//! | the turn is lost   | –                            | → nothing; calls all      | –         |
//!
//! `WAITERS` (4) is added to the first two when somebody may be in line; whoever calls takes it away.
//!
//! # A turn that is lost
//! An initialiser may panic, return an error, or be dropped at an `await`. Its turn is free then, and all in line are
//! called to it, in their order: whoever comes first has it, the others get in line again.
//!
//! ```text
//!   A (has the turn)      B (a task, in line)       C (a thread, in line)
//!   ─────────────────     ──────────────────────    ──────────────────────
//!   dropped: the turn
//!   is free; call all
//!                         called, and not polled    called; has the turn
//! ```
//! Were B alone to be called, C would have to wait for B to be polled, perhaps for ever. The price is that all in line
//! look once for each initialiser that fails. Initialisers are few, and most do not.
//!
//! # Orderings
//! `SET` is released, with the value written before, and acquired by all who go on. So is a free turn: a later
//! initialiser sees what an earlier one did.

use std::mem;

use waitword_core::{Location, notify_all};

use crate::condition::Condition;
use crate::sync::atomic::{AtomicU32, Ordering};
use crate::sync::{broken, order};

/// There is no value.
pub(super) const NOTHING: u32 = 0;
/// An initialiser runs.
pub(super) const RUNNING: u32 = 1;
/// The value is there.
pub(super) const SET: u32 = 2;
/// Somebody may be in line. Not with `SET`.
pub(super) const WAITERS: u32 = 4;

/// A named state word, here or elsewhere.
#[repr(transparent)]
pub(crate) struct RawOnce<L> {
    at: L,
}

impl<L> RawOnce<L> {
    #[cfg(any(waitword_loom, waitword_shuttle))]
    pub(crate) const fn on(at: L) -> Self {
        Self { at }
    }
}

impl<L: Location<Word = AtomicU32>> RawOnce<L> {
    /// The fast path of everything: one load.
    #[inline]
    pub(crate) fn is_set(&self) -> bool {
        self.at.word().load(order!(Acquire, "once-get")) == SET
    }

    /// How many are in line.
    pub(crate) fn waiters(&self) -> usize {
        self.at.table().waiters(self.at.word())
    }

    /// Has the turn, if it is free at this moment.
    pub(crate) fn try_turn(&self) -> Option<RawTurn<'_, L>> {
        let take = |state| (state & !WAITERS == NOTHING).then_some(state | RUNNING);
        let taken =
            self.at.word().fetch_update(order!(Acquire, "once-turn"), Ordering::Relaxed, take).is_ok();
        taken.then(|| RawTurn { raw: self })
    }

    fn end_turn(&self, state: u32) {
        if self.at.word().swap(state, order!(AcqRel, "once-set")) & WAITERS != 0 && !broken!("once-call") {
            self.call();
        }
    }

    #[cold]
    fn call(&self) {
        notify_all(&self.at);
    }

    /// Waits while the cell is in one of the states that `waits` says.
    fn check(&self, waits: impl Fn(u32) -> bool) -> Result<u32, u32> {
        let mark = |state| {
            waits(state & !WAITERS).then_some(if broken!("once-mark") { state } else { state | WAITERS })
        };
        match self.at.word().fetch_update(Ordering::Acquire, Ordering::Acquire, mark) {
            Ok(state) => Err(state | WAITERS),
            Err(state) => Ok(state & !WAITERS),
        }
    }
}

/// The right to set the value. Given back if it is dropped: then somebody else has it next.
pub(crate) struct RawTurn<'a, L: Location<Word = AtomicU32>> {
    raw: &'a RawOnce<L>,
}

impl<L: Location<Word = AtomicU32>> RawTurn<'_, L> {
    /// The value is there.
    pub(crate) fn complete(self) {
        let raw = self.raw;
        mem::forget(self);
        raw.end_turn(SET);
    }
}

impl<L: Location<Word = AtomicU32>> Drop for RawTurn<'_, L> {
    fn drop(&mut self) {
        self.raw.end_turn(NOTHING);
    }
}

/// One who would set the value: waits for the turn (`Some`), or for the value (`None`).
pub(crate) struct TurnWaiter<'a, L>(pub(crate) &'a RawOnce<L>);

impl<'a, L: Location<Word = AtomicU32>> Condition for TurnWaiter<'a, L> {
    type At = &'a L;
    type Output = Option<RawTurn<'a, L>>;

    fn at(&self) -> &'a L {
        &self.0.at
    }

    fn check(&mut self) -> Result<Self::Output, u32> {
        loop {
            match self.0.check(|state| state == RUNNING)? {
                SET => return Ok(None),
                _ => {
                    if let Some(turn) = self.0.try_turn() {
                        return Ok(Some(turn));
                    }
                }
            }
        }
    }
}

/// One who waits for the value.
pub(crate) struct ValueWaiter<'a, L>(pub(crate) &'a RawOnce<L>);

impl<'a, L: Location<Word = AtomicU32>> Condition for ValueWaiter<'a, L> {
    type At = &'a L;
    type Output = ();

    fn at(&self) -> &'a L {
        &self.0.at
    }

    fn check(&mut self) -> Result<(), u32> {
        self.0.check(|state| state != SET).map(drop)
    }
}
