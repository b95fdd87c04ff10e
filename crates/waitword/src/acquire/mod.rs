//! The one acquisition loop: try; else wait in the queue while the word says "taken"; signalled, try again.
//!
//! What is acquired implements [`Acquire`] (`raw.rs`). [`Acquisition`] is the loop, between two of its steps: a thread drives
//! it with its parker ([`block`]), with a deadline or without, and [`AcquireAsync`] drives it as a future. Threads, tasks and
//! timeouts meet nowhere else. Read on in `acquisition.rs`.
//!
//! # A signal is an offer
//! A release signals the head waiter and leaves the word free for anybody. So a signalled waiter owes something to those behind
//! it. If it takes the word, its own release signals the next. Otherwise the others would sleep for ever in each of these
//! three cases:
//!
//! **It is dropped, or its time is up, after the signal.** It forwards the signal.
//!
//! ```text
//!   A (a task)                    B                        the holder
//!   ───────────────────────       ──────────────────       ───────────────────────
//!   queued                        queued behind A          free; signal A
//!   dropped                       sleeps; nobody will
//!                                 ever signal it
//!
//!   leave the queue: signalled
//!   → signal B, or see to it
//!     that who barged in will
//! ```
//!
//! **Another one barges in before it runs.** It finds the word taken, marks it so that the release signals again, and
//! waits on, in its position.
//!
//! **It is a task that is not polled**, because its owner awaits something else, perhaps this very word. It may
//! never run. And a barging acquirer does not know of B:
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
//! rechecks on its own ([`StallTimeout`](crate::stall_timeout::StallTimeout)). A recheck is an ordinary attempt: it takes the word
//! if it is free, and marks it if it is not; the waiter keeps its position. A successful recheck may coincide with a signal,
//! which the success uses up: what was taken this way signals the next waiter when it is released.

mod acquisition;
mod attempt;
mod block;
mod drive;
mod future;
#[allow(unsafe_code)]
mod handle;
mod raw;

pub(crate) use acquisition::Acquisition;
pub(crate) use attempt::try_take;
pub(crate) use block::{block, block_for_guard, block_until};
pub(crate) use drive::{Step, Steps, drive};
pub(crate) use future::{AcquireAsync, AcquireAsyncUntil};
pub(crate) use handle::{Handle, HasRaw};
pub(crate) use raw::{Acquire, Attempt, GivesBack};
