//! The one acquisition loop: try; if that fails, wait in the queue while the word says "taken"; try again when signalled.
//!
//! A lock is a state word and its transitions, which are functions of the state ([`Acquire`]): `raw_mutex/`, `raw_rwlock/`,
//! `raw_semaphore/`. The attempts on the word, for all of them, are in `attempts.rs`. [`Acquisition`](acquisition::Acquisition) is the
//! state of the loop between two of its steps. A thread drives it with its parker ([`block`]), [`AcquireAsync`](future::AcquireAsync)
//! drives it as a future, both with a deadline or without. No other code deals with threads, tasks and timeouts alike. Read on in
//! `acquisition.rs`.
//!
//! # A signal is an offer
//! A release signals the head waiter and leaves the word free for any acquirer. The waiters behind depend on the signalled
//! waiter: if it takes the word, its own release signals the next. If it does not, they would sleep for ever in each of these
//! three cases:
//!
//! **The signalled waiter is dropped, or times out.** It forwards the signal.
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
//! **Another acquirer barges before the signalled waiter runs.** The waiter finds the word taken, marks the word so that the release
//! signals again, and continues to wait in its position.
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
//!                                 signalled by the
//!                                 watchdog: rechecks       FREE → LOCKED
//!                                 LOCKED → CONTENDED
//!                                                          CONTENDED → FREE; signal B
//! ```
//! The core's watchdog signals the waiters behind such a task. A recheck is an ordinary attempt: it takes a free word, and marks one that is
//! taken; the waiter keeps its position.

pub(crate) mod acquisition;
pub(crate) mod attempts;
pub(crate) mod block;
pub(crate) mod future;
pub(crate) mod grid;
pub(crate) mod held;
#[allow(unsafe_code)]
mod out_of_line;
#[cfg(test)]
mod tests;
pub(crate) mod transitions;

pub(crate) use transitions::{
    Acquire, Acquired, Ask, Attempt, Behind, Kind, Left, Next, Report, StateWord, Yields,
};

/// Calls a function if foreign code unwinds. After that code, `mem::forget` it.
pub(crate) struct OnUnwind<F: Fn()>(pub(crate) F);

impl<F: Fn()> Drop for OnUnwind<F> {
    fn drop(&mut self) {
        self.0();
    }
}
