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
//! | … leaves the queue empty, `QUEUED` | - `QUEUED`, under the lock of the queue                     | –                     |
//! | queued waiter rechecks, too few    | → `QUEUED FAIR`: waits on                                   | the same              |
//! | permits added, `QUEUED`            | → `SIGNALLED`: signal                                       | → `SIGNALLED FAIR`: signal |
//! | permits added, `SIGNALLED`         | –; + `FAIR` at the end of the barging window                | –                     |
//! | waiter gives up                    | as for permits added, if any are free                       | the same              |
//!
//! Waiters compare `QUEUED` only: the operation that clears it signals the head waiter, or closes the semaphore and wakes all, or finds under
//! the lock of the queue that there is no waiter.
//!
//! # Barging and starvation
//! Until the signalled waiter rechecks, barging acquirers may take permits; for 200 µs at most (`barging_window.rs`) while permits
//! are released, else no more than were free. If the waiter finds too few it sets `FAIR`: from then on released permits
//! accumulate for it. So a stream of small requests does not starve a large one.
//!
//! # Several permits at once
//! Adding permits signals one waiter, however many could be served: no thundering herd. The waiter that is served signals
//! the next if permits are left, and so on. A waiter that gives up has to do the same, signalled or not: the permits reserved
//! for it may be enough for the next.
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
//! A waiter that gives up dequeues first, or it would signal itself. Another waiter may be in the same position: it rechecked, took its
//! permits, and is still queued for a moment. A signal may hit it there. As it dequeues it learns of that, takes `SIGNALLED` for its own
//! and signals another. (A waiter that took its permits *because* it was signalled is not signalled again, and must not clear `SIGNALLED`,
//! which stands for another waiter that would be barged past without a bound.)
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
//! All queued waiters may be signalled already: by the watchdog, or while they dequeue. A signaller that finds no waiter withdraws
//! the signal, and the reservation stays: `QUEUED FAIR`. Waiters find `QUEUED` when they dequeue, and signal. The signaller then
//! rechecks that waiters are queued, because one that dequeued before found `SIGNALLED` and relied on it.
//!
//! The `SIGNALLED` that is cleared here may stand for another signal, sent since by an operation that found a waiter. That costs at
//! most one signal too many: the signalled waiter sets `QUEUED` when it rechecks, and when it gives up.
//!
//! # Unresponsive waiters
//! The watchdog skips a waiter that was signalled and is not polled. A waiter that rechecked in vain is not signalled until permits
//! are added; if it is not polled any more, the waiters behind it would wait for permits that are free. So a task that leaves
//! free permits behind asks the watchdog for a signal (`Behind::HeldUp`) while another is queued behind it. A blocked thread does not: it
//! responds when there are enough, and would be woken for nothing.

mod attempts;

use waitword_core::{Masked64, Table, charge_release, notify_all, signal_one};

use crate::barging_window::barge;
use crate::holders::tells_its_drop;
use crate::sync::atomic::{AtomicU32, Ordering};
use crate::sync::{const_fn, mutant, order, update};

const QUEUED: u64 = 1;
const SIGNALLED: u64 = 1 << 1;
const FAIR: u64 = 1 << 2;
const FLAGS: u64 = QUEUED | SIGNALLED | FAIR;
const CLOSED: u64 = FAIR;
const SHIFT: u32 = 3;

/// The most permits that fit into the word, and on 32-bit targets fewer: the number is the same part of a `usize` everywhere.
pub(crate) const MAX_PERMITS: usize = usize::MAX >> SHIFT;

/// Adding no more than this to no more than [`HALF`] needs no check for overflow: half a million threads would have to add at
/// once.
const FEW: usize = MAX_PERMITS >> 20;
const HALF: u64 = (MAX_PERMITS / 2) as u64;

/// The semaphore was closed ([`Semaphore::close`](crate::Semaphore::close)), and gives no more permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Closed;

/// The state word of a semaphore, first.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct RawSemaphore {
    state: Masked64<QUEUED>,
    /// How far the barging window of the signalled waiter is used up (`barging_window.rs`).
    pace: AtomicU32,
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
        if n > FEW || permits(self.state.load(Ordering::Relaxed)) > HALF {
            return self.add_if_they_fit(n);
        }
        // One step, without a retry. Too few threads can do this at once for an overflow.
        let before = self.state.fetch_add((n as u64) << SHIFT, order!(Release, "semaphore-add"));
        if before & FLAGS != 0 {
            self.added(before);
        }
        true
    }

    /// Never stores a number that does not fit: others would see permits that are not there.
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
            charge_release(&self.state, std::ptr::from_ref(&self.state).addr());
        }
        if before & SIGNALLED != 0 && before & FAIR == 0 {
            // One more acquirer may have barged past the signalled waiter. Of two that count at once, one may not be counted.
            let (pace, is_last) = barge(self.pace.load(Ordering::Relaxed));
            self.pace.store(pace, Ordering::Relaxed);
            if is_last {
                self.reserve();
            }
        }
        mutant!("semaphore-signal" => return);
        self.signal_next();
    }

    /// Removes up to `n` free permits. Returns how many.
    pub(crate) fn reduce(&self, n: usize) -> usize {
        let fewer = |state| permits(state).min(n as u64);
        let before = self.update(Ordering::Acquire, |state| state - (fewer(state) << SHIFT));
        fewer(before) as usize
    }

    /// Wakes all waiters; from then on all acquires fail.
    pub(crate) fn close(&self) {
        self.update(Ordering::Release, |state| state & !FLAGS | CLOSED);
        // Also without `QUEUED`: skipped waiters are queued still. An acquirer that has set `QUEUED` and is about to enqueue finds
        // it cleared.
        mutant!("semaphore-close" => return);
        notify_all(&self.state);
    }

    /// Signals the head waiter if permits are free and no signal is pending.
    fn signal_next(&self) {
        while self.claim_signal() && !self.signal() {}
    }

    /// Clears `QUEUED` and sets `SIGNALLED` if a signal is owed. `true`: the caller has to signal.
    fn claim_signal(&self) -> bool {
        let is_owed = |state| state & (QUEUED | SIGNALLED) == QUEUED && permits(state) > 0;
        let state = self.state.load(Ordering::Relaxed);
        is_owed(state)
            && is_owed(self.update(Ordering::Relaxed, |state| match is_owed(state) {
                true => state & !QUEUED | SIGNALLED,
                false => state,
            }))
    }

    /// Signals the head waiter, after [`claim_signal`](Self::claim_signal). `false`: claim once more.
    fn signal(&self) -> bool {
        self.pace.store(0, Ordering::Relaxed);
        while signal_one(&self.state) == 0 {
            // The queue has no waiter to signal. One may have enqueued since, relying on the signal already sent. The reservation
            // stays for waiters that were signalled by the watchdog, or are about to dequeue.
            let reserved = if self.has_waiters() { FAIR } else { 0 };
            let is_signalled = |state| state & SIGNALLED != 0;
            let is_owed = |state| is_signalled(state) && state & QUEUED != 0 && permits(state) > 0;
            let before = self.update(Ordering::Relaxed, |state| {
                mutant!("semaphore-clear-signalled" => if !is_owed(state) { return state });
                if is_owed(state) {
                    state & !(QUEUED | FAIR) | state & reserved
                } else if !is_signalled(state) {
                    // Closed; or a waiter has rechecked and set the flags.
                    state
                } else if state & reserved == 0 {
                    // No waiter is queued.
                    state & !(SIGNALLED | FAIR)
                } else {
                    state & !SIGNALLED | QUEUED
                }
            });
            mutant!("semaphore-signal-again" => return true);
            if is_owed(before) {
                continue;
            }
            if is_signalled(before) && before & reserved != 0 {
                // Waiters that dequeue from now on signal the next. Check for waiters that dequeued or enqueued before.
                let has_waiters = self.has_waiters();
                mutant!("semaphore-signal-late" => return has_waiters);
                if has_waiters {
                    signal_one(&self.state);
                }
                return has_waiters;
            }
            break;
        }
        true
    }

    /// Reserves the permits for the signalled waiter, if there is one still.
    fn reserve(&self) {
        self.update(Ordering::Relaxed, |state| match state & SIGNALLED {
            0 => state,
            _ => state | FAIR,
        });
    }

    fn has_waiters(&self) -> bool {
        Table::global().waiters(&self.state) > 0
    }

    update!(u64);
}

tells_its_drop! { RawSemaphore: this => std::ptr::from_ref(&this.state).addr(), true }

/// `permits`, if a semaphore can have that many.
#[inline]
#[track_caller]
pub(crate) fn asked(permits: usize) -> usize {
    assert!(
        permits <= MAX_PERMITS,
        "{permits} permits were asked for: no semaphore has more than `Semaphore::MAX_PERMITS`"
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
