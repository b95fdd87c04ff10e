//! The attempts on a lock's word, and its signals, for all locks. [`Acquire::next`] decides the result of an attempt; the compare-and-swaps
//! are here.

use std::cell::Cell;
use std::ops::BitAnd;
use std::pin::Pin;
use std::ptr;

use waitword_core::{
    Cancelled, Location, Table, WaitAsync, is_queue_stalled, signal_one_or, signal_past as past,
};

use super::transitions::{Acquire, Ask, Attempt, Behind, Kind, Left, Next, State, StateWord as _};
use crate::spins::{Pauses, yield_while};
use crate::sync::atomic::Ordering;
use crate::sync::{mutant, order};

/// Whether the state has one of these bits.
#[inline(always)]
fn has<B: Default + Eq + BitAnd<Output = B>>(state: B, bits: B) -> bool {
    state & bits != B::default()
}

/// In a test, another thread's step between two of this one.
#[cfg(test)]
pub(super) use super::tests::between;

#[cfg(not(test))]
#[inline(always)]
pub(super) fn between() {}

/// Why an attempt has not taken the word.
pub(crate) enum NotTaken<R: Acquire> {
    /// What the word says now, if the attempt marks it.
    Marked { state: State<R>, behind: Behind },
    /// Only an attempt finds that out.
    Closed(R::Closed),
}

/// Makes an attempt: the compare-and-swap for what [`next`](Acquire::next) says.
#[inline(always)]
fn attempt<R: Acquire>(raw: &R, ask: Ask<R>, by: Attempt, marks: bool) -> Result<(), NotTaken<R>> {
    between();
    let (word, mut state) = (raw.word(), raw.word().state());
    loop {
        let (new, behind, signals) = match R::next(state, ask, by) {
            Next::Take { state, signals } => (state, None, signals),
            Next::Mark { state, behind } => (state, Some(behind), false),
            Next::Reserved(state) => (state, Some(Behind::Wait), false),
            Next::Closed(closed) => return Err(NotTaken::Closed(closed)),
        };
        let order = match behind {
            None => order!(Acquire, "acquire-take"),
            Some(behind) if !marks => return Err(NotTaken::Marked { state: new, behind }),
            // The mark would change nothing.
            Some(behind) if new == state && !matches!(by, Attempt::Queued(_)) && finds_releases(raw, ask) => {
                return Err(NotTaken::Marked { state: new, behind });
            }
            // A thread that sees the mark sees what came before it (`will_mark`).
            Some(_) => order!(Release, "acquire-mark"),
        };
        match (word.replace(state, new, order), behind) {
            (Err(other), _) => state = other,
            (Ok(_), Some(behind)) => return Err(NotTaken::Marked { state: new, behind }),
            (Ok(_), None) => {
                // If a waiter has taken the word, the next waiter is signalled when this one has left the queue.
                if signals && by == Attempt::Barging {
                    signal(raw);
                }
                return Ok(());
            }
        }
    }
}

/// Whether a wait that begins now notices a release that comes after the state was read. It does if it compares the state word under the
/// lock of its queue. But an upgrade waits on another word, which the last reader changes once, after the mark. If that has happened, and
/// the state that was read here is older, only a compare-and-swap notices it:
///
/// ```text
///   upgrading holder                          last reader
///   ─────────────────────────────────         ───────────────────────────────────────
///   drain ← QUEUED; + WRITER
///                                             readers - 1; drain ← 0; finds nobody to signal
///   drain is not QUEUED: does not wait
///   drain ← QUEUED; reads the state of
///   before: a reader, and WRITER is there
///   waits while drain = QUEUED: for ever
/// ```
fn finds_releases<R: Acquire>(raw: &R, ask: Ask<R>) -> bool {
    mutant!("acquire-mark-again" => return true);
    competes(raw, ask)
}

/// The first attempt of an acquirer: takes the word if it is free and not reserved, and leaves no trace otherwise.
#[inline(always)]
pub(crate) fn take<R: Acquire>(raw: &R, ask: Ask<R>) -> bool {
    raw.take_once(ask) || take_slow(raw, ask)
}

#[cold]
fn take_slow<R: Acquire>(raw: &R, ask: Ask<R>) -> bool {
    take_if(raw, ask, Attempt::Barging)
}

/// An attempt that leaves no trace if it fails.
#[inline]
pub(crate) fn take_if<R: Acquire>(raw: &R, ask: Ask<R>, by: Attempt) -> bool {
    attempt(raw, ask, by, false).is_ok()
}

/// The attempt of a waiter, or of an acquirer that is about to enqueue. Takes the word, so that its release signals the next waiter;
/// otherwise marks the word, so that the holder's release does.
pub(crate) fn take_or_mark<R: Acquire>(raw: &R, ask: Ask<R>, by: Attempt) -> Result<(), NotTaken<R>> {
    raw.will_mark(ask);
    attempt(raw, ask, by, true)
}

/// The attempt of a signalled waiter that runs: takes the word; otherwise closes the barging window.
pub(crate) fn take_signalled<R: Acquire>(raw: &R, ask: Ask<R>, kind: Kind) -> bool {
    attempt(raw, ask, Attempt::Signalled(kind), true).is_ok()
}

/// Whether waiters are queued, or permits or a lock are reserved for them, as far as the word tells.
#[inline]
pub(crate) fn has_waiters<R: Acquire>(raw: &R) -> bool {
    has(raw.word().state(), R::WAITERS)
}

/// The number of queued waiters.
pub(crate) fn waiters<R: Acquire>(raw: &R, ask: Ask<R>) -> usize {
    Table::global().waiters(raw.at(ask))
}

/// Whether waiters with this ask compete with barging acquirers: they are queued on the state word.
pub(crate) fn competes<R: Acquire>(raw: &R, ask: Ask<R>) -> bool {
    ptr::eq(raw.at(ask), raw.word())
}

/// Signals the head waiter. The caller has claimed the signal: the word tells that a waiter is signalled.
#[cold]
pub(crate) fn signal<R: Acquire>(raw: &R) {
    raw.will_signal();
    signal_one_or(raw.word(), &|are_waiters| unanswered(raw, are_waiters));
}

/// A queued waiter lets others pass ([`Behind::Pass`]): signals the first waiter behind it that waits for something else. Afterwards the
/// word does not tell that this one is queued.
pub(crate) fn signal_past<R: Acquire>(raw: &R) {
    mutant!("acquire-signal-past" => {
        past(raw.word(), &|_| ());
        return;
    });
    raw.word().change(Ordering::Relaxed, R::passed);
    past(raw.word(), &|are_waiters| unanswered(raw, are_waiters));
}

/// A signal has found no waiter. Called under the lock of the queue.
fn unanswered<R: Acquire>(raw: &R, are_waiters: bool) {
    raw.word().change(Ordering::Relaxed, |state| R::unanswered(state, are_waiters));
}

/// Changes the state. Returns whether the caller has to signal the head waiter, as `change` tells of the previous state.
#[inline]
pub(crate) fn change<R: Acquire>(
    raw: &R,
    order: Ordering,
    change: impl Fn(State<R>) -> (State<R>, bool),
) -> bool {
    let mut signals = false;
    raw.word().change(order, |state| {
        let after;
        (after, signals) = change(state);
        after
    });
    signals
}

/// A waiter that has taken the word leaves the queue. Returns whether it was signalled meanwhile, and whether it was the last one there.
pub(crate) fn leave_with_it<R: Acquire, L: Location>(
    raw: &R,
    ask: Ask<R>,
    wait: Pin<&mut WaitAsync<L>>,
) -> (Cancelled, bool) {
    let is_last = Cell::new(false);
    let cancelled = wait.cancel_acquired_and(&|| {
        is_last.set(true);
        raw.word().change(Ordering::Relaxed, |state| R::emptied(state, ask));
    });
    (cancelled, is_last.get())
}

/// A waiter has left the queue.
pub(crate) fn left<R: Acquire>(raw: &R, ask: Ask<R>, left: Left) {
    between();
    let signals = change(raw, Ordering::Release, |state| R::left(state, ask, left));
    if !left.holds {
        raw.gave_up(ask);
    }
    if signals {
        signal(raw);
    }
}

/// Retries in a thread, with these pauses, while that is worth it. Returns whether an attempt took the word.
pub(crate) fn spin<R: Acquire>(raw: &R, ask: Ask<R>, by: Attempt, pauses: &mut Pauses) -> bool {
    if let Attempt::Signalled(kind) = by
        && take_signalled(raw, ask, kind)
    {
        return true;
    }
    let (mut last, mut seen) = (raw.word().state(), 0);
    while pauses.pause() {
        let state = raw.word().state();
        let progress = has(state ^ last, R::HOLDERS);
        pauses.found(progress);
        seen += u32::from(progress);
        last = state;
        match R::next(state, ask, by) {
            Next::Take { .. } if take_if(raw, ask, by) => return true,
            Next::Mark { .. } if by != Attempt::Barging || !has(state, R::WAITERS) || seen < ENOUGH_SEEN => {}
            Next::Take { .. } => {}
            // Reserved for a waiter that may need this CPU; closed; or busy, with waiters.
            _ => return false,
        }
    }
    false
}

/// If there are waiters, a spinning thread that has found this often that others took the word enqueues, because its rechecks slow the
/// holders down by more than its acquisition would gain.
const ENOUGH_SEEN: u32 = 3;

/// One more attempt of a queued thread, by barging, before it sleeps: the thread yields while the word is reserved. No attempt once the
/// thread is signalled.
pub(crate) fn take_before_park<R: Acquire>(raw: &R, ask: Ask<R>, is_signalled: impl Fn() -> bool) -> bool {
    let Some(yields) = R::YIELDS else { return false };
    let (is_reserved, state) = (|| has(raw.word().state(), yields.reserved), raw.word().state());
    has(state, yields.reserved)
        && !has(state, yields.tasks)
        && competes(raw, ask)
        && (yields.enough == 0 || waiters(raw, ask) >= yields.enough)
        && yield_while(is_reserved, is_signalled)
        && spin(raw, ask, Attempt::Barging, &mut Pauses::new())
}

/// Takes what is reserved for unresponsive waiters, as [`take_reserved`], for an acquirer that was not queued.
#[cold]
pub(super) fn try_reserved<R: Acquire>(raw: &R, ask: Ask<R>) -> bool {
    let is_taken = take_reserved(raw, ask);
    if is_taken {
        left(raw, ask, Left { holds: true, was_signalled: false, is_last: false });
    }
    is_taken
}

/// Takes what is reserved for waiters, if all of them were signalled and have been unresponsive for so long that a waiter
/// behind them would get it. Such an acquirer counts as a waiter, and has to call [`left`].
pub(super) fn take_reserved<R: Acquire>(raw: &R, ask: Ask<R>) -> bool {
    mutant!("acquire-stalled" => return false);
    let state = raw.word().state();
    let is_reserved = matches!(R::next(state, ask, Attempt::Barging), Next::Reserved(_))
        && matches!(R::next(state, ask, Attempt::THREAD), Next::Take { .. });
    is_reserved && is_queue_stalled(raw.at(ask)) && take_if(raw, ask, Attempt::THREAD)
}
