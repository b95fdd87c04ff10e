//! The one acquisition loop: try; else wait in line while the word says "taken"; called, try again.
//!
//! [`Acquisition`] is the loop as something that is stepped. A thread drives it with its [`Parker`] ([`block`]), with a
//! deadline or without, and [`AcquireAsync`] drives it as a future. What is acquired says in [`Acquire`] how that is
//! tried; that a thread, a task and a timeout can meet on it is all here. Read on in `acquisition.rs`.
//!
//! # A call is an offer
//! Whoever frees the word calls the first in line and lets go: the word is free for anybody until somebody takes it.
//! So the one who was called owes something to those behind it. If it takes the word, its own release calls the next.
//! There are three ways in which it might not, and each would let the others sleep for ever:
//!
//! **It is dropped, or its time is up, after it was called.** It passes the call on.
//!
//! ```text
//!   A (a task)                    B                        the holder
//!   ───────────────────────       ──────────────────       ───────────────────────
//!   in line                       in line behind A         free; call A
//!   dropped                       sleeps; nobody will
//!                                 ever call it
//!
//!   leave the line: was called
//!   → call B, or see to it that
//!     who barged in will
//! ```
//!
//! **Somebody barges in before it comes.** It finds the word taken, marks it so that the release calls again, and goes
//! back into line.
//!
//! **It is a task that nobody polls**, because whoever owns it awaits something else, perhaps this very word. It may
//! never come. And whoever barges in meanwhile does not know of B:
//!
//! ```text
//!   A (called, not polled)        B                        C (new)
//!   ───────────────────────       ──────────────────       ───────────────────────
//!                                 in line                  FREE → LOCKED
//!                                                          LOCKED → FREE: nobody to call
//!                                 sleeps for ever
//!
//!                                 patience is over:
//!                                 looks, in line           FREE → LOCKED
//!                                 LOCKED → CONTENDED
//!                                                          CONTENDED → FREE; call B
//! ```
//! So everybody looks for itself when it has not been called for a while ([`Patience`]). A look is the same attempt as
//! any other: it takes the word if it is free, and marks it if it is not. It is made from the place in line, which is
//! kept. A look that succeeds may coincide with a call; that call is used up by the success, since what was taken this
//! way calls the next when it is released.

mod acquisition;
mod future;
#[allow(unsafe_code)]
mod handle;

use std::mem;
use std::pin::pin;
use std::time::Instant;

use waitword_core::{Location, Parker, Word, is_queue_stalled, may_block};

use crate::error::LockError;
use crate::stall_timeout::Looks;
use crate::sync::mutant;
pub(crate) use acquisition::{Acquisition, Step};

pub(crate) use future::{AcquireAsync, AcquireAsyncUntil};
pub(crate) use handle::{Handle, HasRaw};

/// What can be acquired: how it is tried, and where one waits for it.
pub(crate) trait Acquire {
    /// Where those who wait stand in line.
    type At: Location;

    /// What one asks for: a mode, a number of permits; nothing where there is only one thing to be had.
    type Ask: Copy;

    /// What whoever has done with waiting is told: nothing if all there is to say is that it was taken; or that it was, or
    /// never will be.
    type End;

    /// When those who wait look for themselves.
    type Looks: Looks;

    /// It was taken.
    const TAKEN: Self::End;

    /// See [`Acquire::At`]. The same for all that want the same.
    fn at(&self, ask: Self::Ask) -> &Self::At;

    /// The attempt of one who has not waited: takes it if it is free for all, and leaves no trace otherwise.
    fn take(&self, ask: Self::Ask) -> bool;

    /// The attempt of one who waits or is about to: takes it if it is free, so that its release calls the next in
    /// line; otherwise sees to it that the release of who holds it does. The error is the value to wait on. It is the one
    /// attempt that finds out if there is nothing to wait for.
    fn take_or_mark(&self, ask: Self::Ask, attempt: Attempt) -> Result<Self::End, Value<Self>>;

    /// The attempt of one who was called: takes it if it is free, so that its release calls the next in line, and leaves no
    /// trace otherwise.
    fn take_signalled(&self, ask: Self::Ask) -> bool;

    /// Whether it is there, but for those in line only.
    fn is_reserved(&self, _ask: Self::Ask) -> bool {
        false
    }

    /// A thread tries for a while before it sleeps, if that is worth it. Returns whether it has taken it.
    fn spin(&self, ask: Self::Ask, attempt: Attempt) -> bool;

    /// Whether something is there that is kept for the one who has just looked in vain: then it is to be noticed when it looks
    /// no more.
    fn holds_up_others(&self, _ask: Self::Ask) -> bool {
        false
    }

    /// One who took it from the line has left the line. Where several can have it, the next one may be called; and has to be
    /// if this one was called once more after it had taken it.
    fn dequeued(&self, _ask: Self::Ask, _was_called: bool) {}

    /// Whoever took it does not get it: foreign code has panicked on the way.
    fn give_back(&self, ask: Self::Ask);

    /// One leaves the line without having taken it. If it was called, somebody else has to be, now or by the next release; and
    /// where it was not, it may have kept others from what was enough for them.
    fn forward(&self, ask: Self::Ask, was_signalled: bool);
}

/// Who makes an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// One that is not queued: it may not take what is reserved for the queue.
    Barging,
    /// One that is queued, or left the queue just now because its time was up, and was signalled as far as it knows.
    Queued,
}

pub(crate) type Value<R> = <<<R as Acquire>::At as Location>::Word as Word>::Value;

/// The attempt of one who does not wait.
#[inline]
pub(crate) fn try_take<R: Acquire>(raw: &R, ask: R::Ask) -> bool {
    raw.take(ask) || try_passed(raw, ask)
}

#[cold]
fn try_passed<R: Acquire>(raw: &R, ask: R::Ask) -> bool {
    let is_taken = take_passed(raw, ask);
    if is_taken {
        let unwinding = GivesBack { raw, ask };
        raw.dequeued(ask, false);
        mem::forget(unwinding);
    }
    is_taken
}

/// Gives back what was taken, if whoever took it unwinds before it has it.
pub(crate) struct GivesBack<'a, R: Acquire> {
    pub(crate) raw: &'a R,
    pub(crate) ask: R::Ask,
}

impl<R: Acquire> Drop for GivesBack<'_, R> {
    fn drop(&mut self) {
        self.raw.give_back(self.ask);
    }
}

/// Takes what is kept for those in line, if they have been called and have not come for so long that who stood behind them
/// would have it. Then it is as one who has come from the line, and says so when it has [left](Acquire::left) it.
fn take_passed<R: Acquire>(raw: &R, ask: R::Ask) -> bool {
    mutant!("acquire-passed" => return false);
    raw.is_reserved(ask) && is_queue_stalled(raw.at(ask)) && raw.take_signalled(ask)
}

/// Acquires what could not be taken at once, blocking this thread. `instead` is for the one that must not.
#[cold]
#[track_caller]
pub(crate) fn block<R: Acquire>(raw: &R, ask: R::Ask, instead: &str) -> R::End {
    assert!(may_block(), "this thread must not block (`forbid_blocking`): use `{instead}` here");
    block_for_guard(raw, ask)
}

/// As [`block`], for a guard that is there already and must not be there without its lock. So this thread blocks also if what it
/// has run meanwhile forbade that, and has not taken it back.
#[cold]
pub(crate) fn block_for_guard<R: Acquire>(raw: &R, ask: R::Ask) -> R::End {
    match drive(raw, ask, None) {
        Ok(end) => end,
        Err(_) => unreachable!("{NO_DEADLINE}"),
    }
}

const NO_DEADLINE: &str = "without a deadline it only ends with the lock";

/// As [`block`], until `deadline` at the latest.
#[cold]
pub(crate) fn block_until<R: Acquire>(
    raw: &R,
    ask: R::Ask,
    deadline: Option<Instant>,
) -> Result<R::End, LockError> {
    if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
        return if try_passed(raw, ask) { Ok(R::TAKEN) } else { Err(LockError::TimedOut) };
    }
    if !may_block() {
        return Err(LockError::BlockingForbidden);
    }
    drive(raw, ask, deadline)
}

fn drive<R: Acquire>(raw: &R, ask: R::Ask, deadline: Option<Instant>) -> Result<R::End, LockError> {
    if raw.spin(ask, Attempt::Barging) {
        return Ok(R::TAKEN);
    }
    let parker = Parker::current();
    let mut acquisition = pin!(Acquisition::new(raw, ask));
    loop {
        match acquisition.as_mut().step(parker.waker(), deadline) {
            Step::Ended(result) => return result.map(|(_, end)| end),
            Step::Wait(Some(until)) => parker.park_until(until),
            Step::Wait(None) => parker.park(),
        }
        // Whoever was called is awake now, and if it came too late for one release it is in time for the next.
        if acquisition.as_mut().spin() {
            return Ok(R::TAKEN);
        }
    }
}
