//! One first-in-first-out queue on a word of memory, for threads, tasks and JavaScript agents.
//!
//! Whoever waits on a word stands in the same line: a blocked thread ([`wait`]), an async task
//! ([`wait_async`]) and an ECMAScript agent's promise ([`InboxWait`]). Whoever calls [`notify_one`],
//! [`notify_many`] or [`notify_all`] need not know who is waiting, or how.
//!
//! ```
//! use std::sync::atomic::{AtomicI32, Ordering};
//! use waitword_core::{Outcome, notify_all, wait};
//!
//! static READY: AtomicI32 = AtomicI32::new(0);
//!
//! let waiter = std::thread::spawn(|| {
//!     // Sleeps only while the word is still 0: the check and the entry into the queue are one step.
//!     while READY.load(Ordering::SeqCst) == 0 {
//!         let outcome = wait(&READY, 0);
//!         assert_ne!(outcome, Outcome::TimedOut);
//!     }
//! });
//! READY.store(1, Ordering::SeqCst);
//! notify_all(&READY);
//! waiter.join().unwrap();
//! ```
//!
//! # What holds for every wait
//! - [`Outcome::Notified`] means that exactly one notify counted this waiter, and the other way round: the
//!   sum of what all notifies return is the number of waits that end so, or that were given up too late
//!   ([`Cancelled::AfterNotify`]). There are no spurious wakeups.
//! - [`Outcome::TimedOut`] never comes before the deadline.
//! - A store followed by a notify is never missed by a waiter that still saw the old value.
//! - First come, first served, per word, whatever kind of waiter it is.
//! - A wait allocates nothing of its own: its node lives on the thread's stack or in the pinned future. (What a
//!   [`Table`] allocates follows the number of words waited on.)
//!
//! Why all this is so is told in [`protocol`], races first. Where to read on: `wait.rs` and `wait_async.rs`
//! (check, enqueue, park, verdict), `notify.rs`, `cancel.rs`, then down through `table.rs`, `shard/` and
//! `queue.rs` to the node in `waiter.rs`.

#![deny(unsafe_code)]

mod blocking;
mod call;
#[cfg(not(any(waitword_loom, waitword_shuttle)))]
mod callers;
mod cancel;
#[cfg(not(any(waitword_loom, waitword_shuttle)))]
mod clock;
#[cfg(not(any(waitword_loom, waitword_shuttle)))]
#[allow(unsafe_code)]
mod deadlines;
#[allow(unsafe_code)]
mod inbox;
mod lock;
mod notify;
#[cfg(any(waitword_loom, waitword_shuttle))]
mod order_of_a_model;
mod outcome;
mod park;
mod presence;
#[allow(unsafe_code)]
mod queue;
mod replace;
#[allow(unsafe_code)]
mod requeue;
#[allow(unsafe_code)]
mod shard;
mod spin;
mod sync;
mod table;
#[cfg(not(any(waitword_loom, waitword_shuttle)))]
#[allow(unsafe_code)]
mod timer;
#[cfg(any(waitword_loom, waitword_shuttle))]
#[path = "timer_of_a_model.rs"]
mod timer;
mod wait;
#[allow(unsafe_code)]
mod wait_async;
#[allow(unsafe_code)]
mod wait_async_until;
#[allow(unsafe_code)]
mod waiter;
mod wake;
#[cfg(not(any(waitword_loom, waitword_shuttle)))]
#[allow(unsafe_code)]
mod wheel;
#[allow(unsafe_code)]
mod word;

pub use blocking::{ForbidBlocking, allow_blocking, forbid_blocking, may_block};
pub use call::{PATIENCE, call_one, is_line_passed};
pub use cancel::Cancelled;
pub use inbox::{Inbox, InboxWait};
pub use notify::{notify_all, notify_last, notify_many, notify_one};
pub use outcome::{Interrupted, Outcome};
pub use park::{Interrupt, Parker};
pub use replace::{notify_last_or_replace, notify_one_or_replace, replace_and_notify_all, replace_if_idle};
pub use requeue::requeue_while_equal;
pub use table::{At, Table};
pub use timer::Alarm;
pub use wait::{wait, wait_for, wait_interruptible, wait_until};
pub use wait_async::{WaitAsync, wait_async};
pub use wait_async_until::{WaitAsyncUntil, wait_async_for, wait_async_until};
pub use word::{Location, Masked, Masked64, Word};

#[cfg(not(any(waitword_loom, waitword_shuttle)))]
#[doc(hidden)]
pub use call::never_sweep;
/// The atomics that words are made of: the standard library's, or a model checker's in a model.
#[doc(hidden)]
pub use sync::{atomic, is_broken};

#[doc = include_str!("../PROTOCOL.md")]
pub mod protocol {}

/// Compiles and runs the README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
