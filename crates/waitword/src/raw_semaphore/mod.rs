//! The state word of the semaphore: its transitions and races. No guards, no waiting.
//!
//! The word has 64 bits on every platform: three flags and the number of free permits.
//!
//! | flags              | meaning                                                                                  |
//! |--------------------|------------------------------------------------------------------------------------------|
//! | none               | no waiter is queued, except unresponsive ones that were skipped                          |
//! | `QUEUED`           | a waiter may be queued that was not signalled: adding permits has to signal              |
//! | `SIGNALLED`        | a waiter was signalled and has not acknowledged: adding permits need not signal          |
//! | `SIGNALLED QUEUED` | as `SIGNALLED`; another waiter may have enqueued since                                   |
//! | these + `FAIR`     | the permits are reserved for queued waiters                                              |
//! | `FAIR` alone       | `CLOSED`, for ever                                                                       |
//!
//! |                                    | without `FAIR`                                              | with `FAIR`           |
//! |------------------------------------|-------------------------------------------------------------|-----------------------|
//! | barging, enough permits            | takes them                                                  | + `QUEUED`: enqueue   |
//! | barging, too few                   | + `QUEUED`: enqueue                                         | + `QUEUED`: enqueue   |
//! | queued waiter rechecks, enough     | → `QUEUED`: takes them, dequeues, signals the next if permits are left | the same   |
//! | … leaves the queue empty           | - `QUEUED FAIR`, under the lock of the queue, unless `SIGNALLED` | the same         |
//! | signalled waiter, too few          | + `FAIR`                                                    | –                     |
//! | … that has acknowledged            | → `QUEUED FAIR`: waits on                                   | the same              |
//! | permits added, `QUEUED`            | → `SIGNALLED`: signal                                       | → `SIGNALLED FAIR`: signal |
//! | permits added, `SIGNALLED`         | –; + `FAIR` at the end of the barging window                | –                     |
//! | waiter gives up                    | as for permits added, if any are free                       | the same              |
//!
//! Waiters compare `QUEUED` only: the operation that clears it signals the head waiter, or closes the semaphore and wakes all, or finds under
//! the lock of the queue that there is no waiter.
//!
//! # Barging and starvation
//! Until the signalled waiter rechecks, barging acquirers may take permits: for about 200 µs (`barging_window.rs`) while permits are
//! released, otherwise no more than were free. If the waiter finds too few it sets `FAIR`: from then on released permits accumulate for it.
//! So a stream of small requests does not starve a large one.
//!
//! # Several permits at once
//! Adding permits signals one waiter, however many could be served, so there is no thundering herd. A waiter that takes its permits signals
//! the next if permits are left, and so on. A waiter that gives up has to do the same, signalled or not, because the permits reserved for
//! it may be enough for the next.
//!
//! ```text
//!   A (wants 3, head waiter)      B (wants 1, behind it)        2 are free
//!   ──────────────────────────    ──────────────────────────    ──────────────────────
//!   signalled; rechecks: too few                                → QUEUED FAIR
//!   dropped, or timed out         parked; was never
//!                                 signalled
//!
//!   dequeued: QUEUED, and
//!   permits → SIGNALLED FAIR; signal B
//! ```
//! A waiter that gives up dequeues first, or it would signal itself. A signal may also reach another waiter that does not need it: one that
//! has rechecked and taken its permits, and is still queued for a moment. When that waiter dequeues, it notices the signal, treats
//! `SIGNALLED` as its own and signals another waiter. (A waiter that took its permits *because* it was signalled is not signalled again. It
//! must not clear `SIGNALLED`, which stands for another waiter, past which others would barge without a bound.)
//!
//! ```text
//!   A (signalled, has rechecked)  B                             C (queued behind A)
//!   ──────────────────────────    ──────────────────────────    ──────────────────────────
//!   takes its permits: → QUEUED
//!                                 adds some: QUEUED → SIGNALLED;
//!                                 signals the head: A
//!   dequeues: was signalled                                     no signal would reach it
//!
//!   … → QUEUED, and permits:
//!   → SIGNALLED; signal C
//! ```
//!
//! # No waiter to signal
//! All queued waiters may be signalled already: by the watchdog, or while they dequeue. A signal that finds no waiter is withdrawn under the
//! lock of the queue, and the reservation stays: `QUEUED FAIR`. The waiters find `QUEUED` when they dequeue, and signal the next.
//!
//! # Unresponsive waiters
//! The watchdog skips a waiter that was signalled and is not polled. A waiter that rechecked in vain is not signalled until permits are
//! added; if it is not polled any more, the waiters behind it would wait for permits that are free. So a task that leaves free permits
//! behind asks the watchdog for a signal (`Behind::HeldUp`) while another is queued behind it. A blocked thread does not, because it
//! responds when there are enough, and would be woken for nothing.

use waitword_core::observe::WaitsFor;
use waitword_core::{Masked64, charge_release, notify_all};

use crate::acquire::attempts::{change, signal};
use crate::acquire::{Acquire, Attempt, Behind, Left, Next, Report, StateWord as _};
use crate::barging_window::barge;
use crate::holders::{Hold, tells_its_drop};
use crate::sync::atomic::{AtomicU32, Ordering};
use crate::sync::{const_fn, mutant, order};

const QUEUED: u64 = 1;
const SIGNALLED: u64 = 1 << 1;
const FAIR: u64 = 1 << 2;
const FLAGS: u64 = QUEUED | SIGNALLED | FAIR;
const CLOSED: u64 = FAIR;
const SHIFT: u32 = 3;

/// The most permits that fit into the word. On 32-bit targets fewer, because the number is the same part of a `usize` everywhere.
pub(crate) const MAX_PERMITS: usize = usize::MAX >> SHIFT;

/// Adding no more than this to no more than [`HALF`] needs no check for overflow: half a million threads would have to add at
/// once.
const FEW: usize = MAX_PERMITS >> 20;
const HALF: u64 = (MAX_PERMITS / 2) as u64;

/// The error of an acquire from a semaphore that was [closed](crate::Semaphore::close), and grants no more permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Closed;

/// The state word of a semaphore, first.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct RawSemaphore {
    state: Masked64<QUEUED>,
    /// How much of the barging window of the signalled waiter is used up (`barging_window.rs`).
    pace: AtomicU32,
}

impl Acquire for RawSemaphore {
    type Word = Masked64<QUEUED>;
    type Ask = usize;
    type Closed = Closed;

    const WAITERS: u64 = FLAGS;
    const HOLDERS: u64 = !FLAGS;

    #[inline(always)]
    fn word(&self) -> &Self::Word {
        &self.state
    }

    #[inline(always)]
    fn take_once(&self, n: usize) -> bool {
        let state = self.state.state();
        let taken = match bits(n) {
            Some(wanted) if state & FLAGS == 0 => state.checked_sub(wanted),
            _ => None,
        };
        let order = order!(Acquire, "semaphore-take");
        let is_taken = |taken| self.state.compare_exchange(state, taken, order, Ordering::Relaxed).is_ok();
        taken.is_some_and(is_taken)
    }

    #[inline]
    fn next(state: u64, n: usize, by: Attempt) -> Next<u64, Closed> {
        if is_closed(state) {
            return Next::Closed(Closed);
        }
        let left = bits(n).and_then(|wanted| (state & !FLAGS).checked_sub(wanted));
        let behind = behind(state);
        match (by, left) {
            // Zero permits are no competition.
            (Attempt::Barging, Some(left)) if state & FAIR == 0 || n == 0 => {
                Next::Take { state: left | state & FLAGS, signals: false }
            }
            (Attempt::Barging, _) if state & FAIR != 0 => Next::Reserved(state | QUEUED),
            (Attempt::Barging, _) => Next::Mark { state: state | QUEUED, behind },
            (_, Some(left)) => {
                mutant!("semaphore-queued-bit" => return Next::Take { state: left, signals: false });
                Next::Take { state: left | QUEUED, signals: false }
            }
            (Attempt::Signalled(_), None) => Next::Mark { state: reserve(state), behind },
            (Attempt::Queued(_), None) => Next::Mark { state: state & !FLAGS | QUEUED | FAIR, behind },
        }
    }

    /// The same whether it has taken its permits or not, because the permits that are free may be enough for the next waiter.
    fn left(mut state: u64, _n: usize, left: Left) -> (u64, bool) {
        mutant!("semaphore-forward" => return claim(state));
        if left.was_signalled && !is_closed(state) {
            // `SIGNALLED` may stand for the signal of the waiter that gave up. If it is clear, the signal found no waiter, and no flag stands
            // for the waiters behind.
            state = state & !SIGNALLED | QUEUED;
        }
        claim(state)
    }

    fn unanswered(state: u64, are_waiters: bool) -> u64 {
        mutant!("semaphore-clear-signalled" => return state);
        match are_waiters {
            _ if is_closed(state) => state,
            // The reservation stays for those that were signalled by the watchdog, or are about to dequeue.
            true => state & !SIGNALLED | QUEUED,
            false => state & !FLAGS,
        }
    }

    fn emptied(state: u64, _n: usize) -> u64 {
        // With `SIGNALLED`, a signal is under way, which will find that there is no waiter.
        if is_closed(state) || state & SIGNALLED != 0 { state } else { state & !FLAGS }
    }

    #[track_caller]
    fn admits(n: usize) {
        asked(n);
    }

    fn will_signal(&self) {
        self.pace.store(0, Ordering::Relaxed);
    }

    fn give_back(&self, n: usize) {
        self.add(n);
    }

    #[inline(always)]
    fn report(n: usize) -> Report {
        Report { waits_for: WaitsFor::Semaphore, hold: Some(Hold::Permits), permits: n }
    }
}

/// What a waiter that has rechecked this state in vain means for others: what is too little for it may be enough for them.
#[inline]
fn behind(state: u64) -> Behind {
    mutant!("semaphore-watchdog" => return Behind::Wait);
    if permits(state) > 0 { Behind::HeldUp } else { Behind::Wait }
}

/// The state once a signal that is owed is claimed, and whether one is.
fn claim(state: u64) -> (u64, bool) {
    let is_owed = state & (QUEUED | SIGNALLED) == QUEUED && permits(state) > 0;
    if is_owed { (state ^ (QUEUED | SIGNALLED), true) } else { (state, false) }
}

/// The state once the permits are reserved for the signalled waiter, if there is one still.
#[inline]
fn reserve(state: u64) -> u64 {
    if state & SIGNALLED == 0 { state } else { state | FAIR }
}

/// For the laws (`acquire/tests/laws.rs`).
#[cfg(test)]
impl RawSemaphore {
    pub(crate) fn permits_in(state: u64) -> u64 {
        permits(state)
    }

    pub(crate) fn is_signalled_in(state: u64) -> bool {
        state & SIGNALLED != 0
    }
}

impl RawSemaphore {
    const_fn! {
        /// With `permits` free, no more than [`MAX_PERMITS`].
        pub(crate) const fn new(permits: usize) -> Self {
            Self { state: Masked64::new((permits as u64) << SHIFT), pace: AtomicU32::new(0) }
        }
    }

    pub(crate) fn available(&self) -> usize {
        // It is never more than `MAX_PERMITS`.
        permits(self.state.load(Ordering::Acquire)) as usize
    }

    pub(crate) fn is_closed(&self) -> bool {
        is_closed(self.state.load(Ordering::Acquire))
    }

    /// Adds permits, unless there would be more than [`MAX_PERMITS`] then. Returns whether it did.
    #[inline]
    pub(crate) fn add(&self, n: usize) -> bool {
        if n > FEW || permits(self.state.state()) > HALF {
            return self.add_if_they_fit(n);
        }
        // One step, without a retry. Too few threads can do this at once for an overflow.
        let before = self.state.fetch_add((n as u64) << SHIFT, order!(Release, "semaphore-add"));
        if before & FLAGS != 0 {
            self.added(before);
        }
        true
    }

    /// Never stores a number that does not fit, because others would see permits that do not exist.
    #[cold]
    fn add_if_they_fit(&self, n: usize) -> bool {
        let Some(wanted) = bits(n) else { return false };
        let room = (MAX_PERMITS - n) as u64;
        let add = |state| (permits(state) <= room).then(|| state + wanted);
        let before = self.state.fetch_update(Ordering::Release, Ordering::Relaxed, add);
        before.map(|before| self.added(before)).is_ok()
    }

    /// Permits were added when the word was in the state `before`.
    #[cold]
    fn added(&self, before: u64) {
        if before & QUEUED != 0 {
            charge_release(&self.state, self.held_at());
        }
        if before & SIGNALLED != 0 && before & FAIR == 0 {
            // One more acquirer may have barged past the signalled waiter. Of two that count at once, one may not be counted.
            let (pace, is_last) = barge(self.pace.load(Ordering::Relaxed));
            self.pace.store(pace, Ordering::Relaxed);
            if is_last {
                self.state.change(Ordering::Relaxed, reserve);
            }
        }
        mutant!("semaphore-signal" => return);
        if change(self, Ordering::Relaxed, claim) {
            signal(self);
        }
    }

    /// Removes up to `n` free permits. Returns how many.
    pub(crate) fn reduce(&self, n: usize) -> usize {
        let fewer = |state| permits(state).min(n as u64);
        let before = self.state.change(Ordering::Acquire, |state| state - (fewer(state) << SHIFT));
        fewer(before) as usize
    }

    /// Wakes all waiters; from then on all acquires fail.
    pub(crate) fn close(&self) {
        self.state.change(Ordering::Release, |state| state & !FLAGS | CLOSED);
        // Also without `QUEUED`: skipped waiters are queued still. An acquirer that has set `QUEUED` and is about to enqueue finds
        // it cleared.
        mutant!("semaphore-close" => return);
        notify_all(&self.state);
    }
}

tells_its_drop! { RawSemaphore: this => this.held_at(), true }

/// `permits`, if a semaphore can have that many.
#[inline]
#[track_caller]
pub(crate) fn asked(permits: usize) -> usize {
    assert!(
        permits <= MAX_PERMITS,
        "{permits} permits were requested: a semaphore has at most `Semaphore::MAX_PERMITS`"
    );
    permits
}

fn is_closed(state: u64) -> bool {
    state & FLAGS == CLOSED
}

#[inline]
fn permits(state: u64) -> u64 {
    state >> SHIFT
}

/// `n` permits in the word's format. `None` beyond [`MAX_PERMITS`].
#[inline]
fn bits(n: usize) -> Option<u64> {
    (n <= MAX_PERMITS).then_some((n as u64) << SHIFT)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::thread;

    use super::*;
    use crate::acquire::attempts::take;

    #[test]
    fn too_many_permits_are_at_no_time_in_the_word() {
        let semaphore = RawSemaphore::new(MAX_PERMITS);
        let ended = AtomicBool::new(false);
        let (taken, added) = thread::scope(|scope| {
            let adds = |n| {
                let (semaphore, ended) = (&semaphore, &ended);
                scope.spawn(move || {
                    let mut added = false;
                    while !ended.load(Ordering::Relaxed) {
                        added |= semaphore.add(n);
                    }
                    added
                })
            };
            let (one, many) = (adds(2), adds(MAX_PERMITS));
            let taken = (0..50_000).all(|_| semaphore.available() == MAX_PERMITS && take(&semaphore, 0));
            ended.store(true, Ordering::Relaxed);
            (taken, one.join().unwrap() | many.join().unwrap())
        });
        assert!(taken && !added);
        assert_eq!(semaphore.available(), MAX_PERMITS);
        assert!(take(&semaphore, 1) && !semaphore.add(2) && semaphore.add(1));
        assert!(!semaphore.add(usize::MAX));
    }
}
