//! The wait loop for conditions whose waiters do not compete: check; if it does not hold, wait while the word is unchanged.
//!
//! ```text
//!   waiter                                   notifier
//!   ───────────────────────────────          ───────────────────────────────
//!   check: the word says no
//!                                            word = yes; notify
//!   wait while the word says no:
//!   it has changed → check: yes
//! ```
//! The queue makes compare and enqueue one step against every notify. A condition has to change the word whenever it changes
//! the answer, and to notify after that or in the same step.
//!
//! A thread drives the loop with [`block`], a task with [`WaitFor`], with a deadline or without; a thread that begins before it
//! blocks, with [`WaitFor::block_until`]. These waiters need no watchdog, because a task that is not polled does not delay the others.
//! Only an event's `notify_one` is for one waiter, as a message would be; a waiter that gives up forwards it
//! ([`Condition::give_up`]).

mod methods;
pub(crate) mod wait_for;

pub(crate) use methods::{blocking_waits, named_future, waits_as_futures};
pub(crate) use wait_for::{Condition, WaitFor, block, block_until, must_not_block};
