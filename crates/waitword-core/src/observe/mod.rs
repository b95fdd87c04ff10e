//! Observing waiters: what a snapshot tells of each, the clock from which its age is read, and the interface to an observer
//! (`waitword-observe`), which records the holders of locks, who made others wait, and the timeline.
//!
//! Every waiter in a queue stores the source location where its wait began, and the identity of its thread, task or agent. A snapshot
//! (`Table::snapshot`) copies them out, in short critical sections of each shard's lock.
//!
//! # Since when
//! A waiter's ticket determines its position in the queue, and can be a time at no cost. Once the clock runs (`start_clock`), a ticket is
//! the time of the enqueue, in units of 32 nanoseconds, with the lowest bit set. Otherwise, and if the clock is behind the last ticket, it
//! is the next even number. So tickets always rise, and each tells whether it is a time.
//!
//! ```text
//!   clock:    off         on                          off
//!   tickets:  2  4  6     1_000_001  1_040_013 ...    9_700_002  9_700_004
//! ```
//!
//! # The interface to an observer
//! The queue and the locks know when something happens, and an observer knows what it means. So where something happens, the code tests a
//! flag and calls through a table of functions, as the crate `log` does for messages: here for waits (`seam.rs`), in `waitword` for
//! holders.

// Finds a source location again by its distance (S1).
#[allow(unsafe_code)]
mod origin;
mod seam;
mod seen;

pub use origin::{Caller, Origin, PackedSite, Site, WaitsFor};
pub use seam::{
    AWAITED, Begun, CONTENDED, Contended, DELAYS, End, Ended, Front, HOLDERS, OWN, Observer, RELEASES, TASKS,
    WAITS, WaiterKind, Woken, ask, asks, set_observer,
};
pub(crate) use seam::{Woke, began, contended, ended, polled, queued};
#[cfg(not(waitword_loom))]
pub(crate) use seen::set_extra;
pub use seen::{
    Actor, WaiterSeen, WaiterState, begin_clock, instant, nanos, nanos_at, start_clock, stop_clock,
};
pub(crate) use seen::{
    CLOCK, Copied, PASS, extras, nanos_of, ticket_after, ticket_now, time_of, years_of_tickets,
};
