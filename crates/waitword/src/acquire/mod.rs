//! The one acquisition loop: try; if that fails, wait in the queue while the word says "taken"; try again when signalled.
//!
//! What is acquired implements [`Acquire`] (`raw.rs`). [`Acquisition`] is the loop, between two of its steps: a thread drives
//! it with its parker ([`block`]), with a deadline or without, and [`AcquireAsync`] drives it as a future. No other code deals
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

mod acquisition;
pub(crate) mod block;
pub(crate) mod future;
pub(crate) mod grid;
pub(crate) mod held;
#[allow(unsafe_code)]
mod out_of_line;
mod raw;
#[cfg(test)]
mod tests;

pub(crate) use acquisition::Acquisition;
pub(crate) use block::{block, block_for_guard, block_until};
pub(crate) use future::AcquireAsync;
pub(crate) use grid::{Tried, grid, guard_futures};
pub(crate) use held::{TIMED, UNTIMED, WasSent, held_by_task, held_by_thread, release, take, try_take};

pub(crate) use raw::{Acquire, Attempt, Left, NotTaken, OnUnwind, TakenOrMarked};
