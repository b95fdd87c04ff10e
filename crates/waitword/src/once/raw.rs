//! The state word of a cell that is set once, without the value.
//!
//! |                  | nothing (0)                    | `RUNNING` (1)              | `SET` (2)    |
//! |------------------|--------------------------------|----------------------------|--------------|
//! | meaning          | no value                       | an initialiser runs        | has a value  |
//! | an initialiser   | → `RUNNING`; has the turn      | → + `WAITERS`; enqueues    | continues    |
//! | a waiter         | → + `WAITERS`; enqueues        | → + `WAITERS`; enqueues    | continues    |
//! | turn completed   | –                              | → `SET`; wakes all         | –            |
//! | turn lost        | –                              | → nothing; wakes all       | –            |
//!
//! `WAITERS` (4) is added to the first two states when a waiter may be queued; the notifier clears it.
//!
//! # A lost turn
//! An initialiser may panic, return an error, or be dropped at an `await`. Its turn is free then, and all waiters are woken: the
//! first to run takes the turn, the others enqueue again.
//!
//! ```text
//!   A (has the turn)      B (a task, queued)        C (a thread, queued)
//!   ─────────────────     ──────────────────────    ──────────────────────
//!   dropped: the turn
//!   is free; wake all
//!                         woken, not polled         woken; takes the turn
//! ```
//! If only B were woken, C would wait until B is polled, perhaps for ever. The price is a thundering herd for each initialiser that fails,
//! and few do.
//!
//! # Orderings
//! `SET` is stored (release) after the value was written, and loaded (acquire) by all that continue. The same holds for a free turn, so
//! that a later initialiser sees what an earlier one did.

use std::mem;
use std::task::Waker;

use waitword_core::observe::Caller;
use waitword_core::{Table, charge_release, notify_all};

use crate::coop;
use crate::holders::{Hold, acquired, acquired_by_task, not_kept, released};
use crate::sync::atomic::{AtomicU32, Ordering};
use crate::sync::{mutant, order};

/// There is no value.
pub(super) const NOTHING: u32 = 0;
/// An initialiser runs.
pub(super) const RUNNING: u32 = 1;
/// The value is there.
pub(super) const SET: u32 = 2;
/// A waiter may be queued. Not with `SET`.
pub(super) const WAITERS: u32 = 4;

/// The state word.
#[repr(transparent)]
pub(crate) struct RawOnce {
    word: AtomicU32,
}

impl RawOnce {
    #[cfg(waitword_loom)]
    pub(crate) fn new(state: u32) -> Self {
        Self { word: AtomicU32::new(state) }
    }

    /// The fast path of all methods. Costs one load.
    #[inline]
    pub(crate) fn is_set(&self) -> bool {
        self.word.load(order!(Acquire, "once-get")) == SET
    }

    /// The number of queued waiters.
    pub(crate) fn waiters(&self) -> usize {
        Table::global().waiters(&self.word)
    }

    /// Takes the turn if it is free.
    pub(crate) fn try_turn(&self) -> Option<RawTurn<'_>> {
        let take = |state| (state & !WAITERS == NOTHING).then_some(state | RUNNING);
        let taken = self.word.fetch_update(order!(Acquire, "once-turn"), Ordering::Relaxed, take).is_ok();
        taken.then(|| RawTurn { raw: self })
    }

    fn end_turn(&self, state: u32) {
        released(self.held_at(), Hold::Initialiser, not_kept());
        let before = self.word.swap(state, order!(AcqRel, "once-set"));
        if before & WAITERS != 0 {
            charge_release(&self.word, self.held_at());
            self.wake_all();
        }
    }

    /// The address under which the holder of the turn is recorded.
    fn held_at(&self) -> usize {
        std::ptr::from_ref(&self.word).addr()
    }

    #[cold]
    fn wake_all(&self) {
        mutant!("once-wake" => return);
        notify_all(&self.word);
    }

    /// The turn (`Some`), or `None` if the value is there; else the state of the word to wait on.
    pub(crate) fn turn_or_value(&self) -> Result<Option<RawTurn<'_>>, u32> {
        loop {
            match self.check(|state| state == RUNNING)? {
                SET => return Ok(None),
                _ => {
                    if let Some(turn) = self.try_turn() {
                        return Ok(Some(turn));
                    }
                }
            }
        }
    }

    /// Whether the value is there; else the state of the word to wait on.
    pub(crate) fn value(&self) -> Result<(), u32> {
        self.check(|state| state != SET).map(drop)
    }

    /// Where the waiters are queued.
    pub(crate) fn at(&self) -> &AtomicU32 {
        &self.word
    }

    /// The state, unless `waits` says to wait on it: then it is marked with `WAITERS`.
    fn check(&self, waits: impl Fn(u32) -> bool) -> Result<u32, u32> {
        let mark = |state| {
            mutant!("once-waiters-bit" => return waits(state & !WAITERS).then_some(state));
            waits(state & !WAITERS).then_some(state | WAITERS)
        };
        match self.word.fetch_update(Ordering::Acquire, Ordering::Acquire, mark) {
            Ok(state) => Err(state | WAITERS),
            Err(state) => Ok(state & !WAITERS),
        }
    }
}

/// The right to set the value. Dropping it frees the turn for the next initialiser.
pub(crate) struct RawTurn<'a> {
    raw: &'a RawOnce,
}

impl RawTurn<'_> {
    /// An initialiser is about to run, for an unknown time: in this thread, or in the task that is polled with the waker.
    pub(crate) fn runs(&self, caller: Caller, task: Option<&Waker>) {
        let at = self.raw.held_at();
        let _ = match task {
            Some(task) => acquired_by_task(at, Hold::Initialiser, 1, caller, task, coop::is_alone, false),
            None => acquired(at, Hold::Initialiser, 1, caller, false),
        };
    }

    /// The value is there.
    pub(crate) fn complete(self) {
        let raw = self.raw;
        mem::forget(self);
        raw.end_turn(SET);
    }
}

impl Drop for RawTurn<'_> {
    fn drop(&mut self) {
        self.raw.end_turn(NOTHING);
    }
}
