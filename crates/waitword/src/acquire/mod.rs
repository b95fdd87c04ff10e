//! The one acquisition loop: try; if that fails, wait in the queue while the word says "taken"; try again when signalled.
//!
//! What is acquired implements [`Acquire`]. [`Acquisition`](acquisition::Acquisition) is the loop, between two of its steps: a thread drives
//! it with its parker ([`block`]), with a deadline or without, and [`AcquireAsync`](future::AcquireAsync) drives it as a future. No other code deals
//! with threads, tasks and timeouts alike. Read on in `acquisition.rs`.
//!
//! # A signal is an offer
//! A release signals the head waiter and leaves the word free for any acquirer. The waiters behind depend on the signalled
//! waiter: if it takes the word, its own release signals the next. If it does not, they would sleep for ever in each of these
//! three cases:
//!
//! **The signalled waiter is dropped, or its time is up.** It forwards the signal.
//!
//! ```text
//!   A (a task)                    B                        the holder
//!   ───────────────────────       ──────────────────       ───────────────────────
//!   queued                        queued behind A          free; signal A
//!   dropped                       sleeps for ever:
//!                                 no signal is due
//!
//!   leave the queue: signalled
//!   → signal B, or mark the
//!     word: its holder will
//! ```
//!
//! **Another acquirer barges before the signalled waiter runs.** The waiter finds the word taken, marks the word so that the
//! release signals again, and waits on, in its position.
//!
//! **The signalled waiter is a task that is not polled**, because its owner awaits something else, perhaps this very word. The
//! task may never run. And a barging acquirer does not know of B:
//!
//! ```text
//!   A (signalled, not polled)     B                        C (barging)
//!   ───────────────────────       ──────────────────       ───────────────────────
//!                                 queued                   FREE → LOCKED
//!                                                          LOCKED → FREE: no signal due
//!                                 sleeps for ever
//!
//!                                 stall timeout:
//!                                 rechecks, queued         FREE → LOCKED
//!                                 LOCKED → CONTENDED
//!                                                          CONTENDED → FREE; signal B
//! ```
//! The core's watchdog signals the waiters behind such a task. Where it cannot, because scripts share the word, each waiter
//! rechecks on its own ([`Handle::rechecks`](crate::handle::Handle::rechecks)). A recheck is an ordinary attempt: it takes a free
//! word, and marks one that is taken; the waiter keeps its position. A successful recheck may coincide with a signal, and uses
//! that up: the release of a word that was taken this way signals the next waiter.

pub(crate) mod acquisition;
pub(crate) mod block;
pub(crate) mod future;
pub(crate) mod grid;
pub(crate) mod held;
#[allow(unsafe_code)]
mod out_of_line;
#[cfg(test)]
mod tests;

use waitword_core::observe::WaitsFor;
use waitword_core::{Location, Word, is_queue_stalled};

use crate::handle::{Handle, Waited};
use crate::holders::Hold;
use crate::spins::Pauses;
use crate::sync::mutant;

/// A state word that can be acquired: the attempts on it, and where its waiters are queued.
pub(crate) trait Acquire: Waited {
    /// Says that it was closed, after which no acquisition succeeds. [`Infallible`](std::convert::Infallible) for a type that
    /// cannot be closed.
    type Closed;

    /// What snapshots call a waiter with this ask.
    fn waits_for(ask: Self::Ask) -> WaitsFor;

    /// How an acquirer with this ask holds it. `None`: its holders are not recorded, or its holder has a record already.
    fn hold(ask: Self::Ask) -> Option<Hold>;

    /// For how many permits it asks, where several holders share them.
    fn permits(ask: Self::Ask) -> Option<usize> {
        let _ = ask;
        None
    }

    /// The address under which its holders are recorded: that of the word that waiters with most asks wait on.
    fn held_at(&self) -> usize;

    /// Why an acquirer whose attempt failed need not wait. Asked before whether its thread may block.
    ///
    /// # Panics
    /// If there can never be enough for this ask.
    #[track_caller]
    fn admits(&self, _ask: Self::Ask) -> Result<(), Self::Closed> {
        Ok(())
    }

    /// The first attempt of an acquirer: takes it if it is free and not reserved, and leaves no trace otherwise.
    #[inline(always)]
    fn take(&self, ask: Self::Ask) -> bool {
        self.take_once(ask) || self.take_slow(ask)
    }

    /// The first half of [`take`](Self::take), for the word's usual state. Calls nothing.
    fn take_once(&self, ask: Self::Ask) -> bool;

    /// The second half, for all other states.
    #[inline(always)]
    fn take_slow(&self, _ask: Self::Ask) -> bool {
        false
    }

    /// The attempt of a signalled waiter: takes it if it is free, so that its release signals the next waiter, and leaves no
    /// trace otherwise.
    fn take_signalled(&self, ask: Self::Ask) -> bool;

    /// The attempt of a waiter, or of an acquirer about to enqueue: takes it if it is free, so that its release signals the next
    /// waiter; otherwise marks the word, so that the holder's release does.
    fn take_or_mark(&self, ask: Self::Ask, attempt: Attempt) -> TakenOrMarked<Self>;

    /// One more attempt of a task, by barging, right after it has enqueued: a short critical section has ended by then. Leaves no
    /// trace otherwise.
    fn take_after_all(&self, _ask: Self::Ask) -> bool {
        false
    }

    /// One more attempt of a queued thread, by barging, before it sleeps; none once it is signalled.
    fn take_before_park(&self, _ask: Self::Ask, _is_signalled: impl Fn() -> bool) -> bool {
        false
    }

    /// A queued waiter, a task or a thread, has taken it.
    fn taken_by(&self, _is_task: bool) {}

    /// Retries in a thread, with these pauses, while that is worth it. Returns whether an attempt took it.
    fn spin(&self, ask: Self::Ask, attempt: Attempt, pauses: &mut Pauses) -> bool;

    /// Whether it is not held, but reserved for waiters.
    fn is_reserved(&self, ask: Self::Ask) -> bool;

    /// The signalled waiter is running: reserves the word for it, from the next release on.
    fn reserve_for_signalled(&self, _ask: Self::Ask) {}

    /// An attempt of a task that spins before it enqueues. `None`: others are queued, so the spin ends.
    fn take_in_poll(&self, _ask: Self::Ask) -> Option<bool> {
        None
    }

    /// A queued waiter lets others pass ([`Behind::Pass`]): signals the first waiter behind that waits for
    /// something else. Afterwards the word does not say that this one is queued.
    fn signal_past(&self) {}

    /// Whether [`emptied`](Self::emptied) does anything.
    const KNOWS_QUEUE: bool = false;

    /// A waiter that has taken it leaves the queue, and none is left there: the word need not say any more that there are waiters, so that the
    /// release does not look for them. Called under the lock of the queue.
    fn emptied(&self) {}

    /// A waiter has left the queue: signals the next one, if that one depends on it.
    fn left(&self, ask: Self::Ask, left: Left);

    /// Releases what was taken for an acquirer that unwinds before it has it: a waker's destructor has panicked.
    fn give_back(&self, ask: Self::Ask);
}

/// See [`Acquire::Closed`].
pub(super) type Closed<H> = <<H as Handle>::Raw as Acquire>::Closed;

/// How an acquisition without a deadline ends.
pub(crate) type Acquired<H> = Result<H, Closed<H>>;

/// Who makes an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// An acquirer that is not queued. It must not take what is reserved for the queue.
    Barging,
    /// A queued waiter; or one that left the queue just now because its time was up, and that was signalled as far as it knows.
    Queued,
}

/// What [`Acquire::take_or_mark`] returns.
pub(crate) type TakenOrMarked<R> = Result<(), NotTaken<Value<R>, <R as Acquire>::Closed>>;

/// Why [`Acquire::take_or_mark`] has not taken it.
pub(crate) enum NotTaken<V, C> {
    /// The word is marked.
    Marked {
        /// The value to wait on.
        value: V,
        /// What this means for the waiters behind.
        behind: Behind,
    },
    /// There is nothing to wait for. Only this attempt finds that out.
    Closed(C),
}

/// What a queued waiter that found too little means for the waiters behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Behind {
    /// They wait for what this one waits for.
    Wait,
    /// They could take what is free, and it is reserved for this one. The watchdog has to notice if this one becomes unresponsive.
    HeldUp,
    /// They may take what is free: a signal that this one cannot use goes past it ([`Acquire::signal_past`]), and so does one for a waiter
    /// that `is_new`.
    Pass {
        /// Another waiter has come since the last signal went past this one.
        is_new: bool,
    },
}

/// What a waiter expects in the word.
type Value<R> = <<<R as Waited>::At as Location>::Word as Word>::Value;

/// How a waiter has left the queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    /// The waiter has taken the word, and its release signals. If not, what was too little for it may be enough for the waiters behind it.
    pub(crate) holds: bool,
    /// The waiter has a signal that it does not use, or that came after it took the word: the next waiter has to be signalled, now or by
    /// the next release.
    pub(crate) was_signalled: bool,
}

/// Takes what is reserved for unresponsive waiters, as [`take_reserved`], for an acquirer that was not queued.
#[cold]
pub(super) fn try_reserved<R: Acquire>(raw: &R, ask: R::Ask) -> bool {
    let is_taken = take_reserved(raw, ask);
    if is_taken {
        raw.left(ask, Left { holds: true, was_signalled: false });
    }
    is_taken
}

/// Takes what is reserved for waiters, if all of them were signalled and have been unresponsive for so long that a waiter
/// behind them would get it. Such an acquirer counts as a waiter, and has to call [`Acquire::left`].
pub(super) fn take_reserved<R: Acquire>(raw: &R, ask: R::Ask) -> bool {
    mutant!("acquire-stalled" => return false);
    raw.is_reserved(ask) && is_queue_stalled(raw.at(ask)) && raw.take_signalled(ask)
}

/// Calls a function if foreign code unwinds. After that code, `mem::forget` it.
pub(crate) struct OnUnwind<F: Fn()>(pub(crate) F);

impl<F: Fn()> Drop for OnUnwind<F> {
    fn drop(&mut self) {
        self.0();
    }
}
