//! A FIFO wait queue on a word of memory, for blocking threads, async tasks and JavaScript agents.
//!
//! A blocked thread ([`wait`]), an async task ([`wait_async`]) and an ECMAScript agent's promise ([`InboxWait`]) are waiters in the same
//! queue. The notifier ([`notify_one`], [`notify_many`], [`notify_all`]) need not know which of them it wakes.
//!
//! ```
//! use std::sync::atomic::{AtomicI32, Ordering};
//! use waitword_core::{Outcome, notify_all, wait};
//!
//! static READY: AtomicI32 = AtomicI32::new(0);
//!
//! let waiter = std::thread::spawn(|| {
//!     // Sleeps only while the word is still 0: compare and enqueue are one step.
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
//! - [`Outcome::Notified`] means that exactly one notify *counted* this waiter: in the number of woken waiters that it returns.
//!   Conversely, the sum of what all notifies return is the number of waits that end this way, or that were cancelled after a notify had
//!   counted them ([`Cancelled::AfterNotify`]). There are no spurious wakeups.
//! - [`Outcome::TimedOut`] is never returned before the deadline.
//! - A store followed by a notify is never missed by a waiter that still saw the old value.
//! - The waiters of a word are woken in FIFO order, threads, tasks and agents alike.
//! - A wait allocates nothing of its own: its node lives on the thread's stack or in the pinned future. (What a
//!   [`Table`] allocates follows the number of words waited on.)
//!
//! [`protocol`] explains why, race by race. To read the source, start with `wait.rs` (threads and tasks) and `notify.rs`. Both begin a
//! critical section (`queue/section.rs`), which the table finds by the address of the word (`queue/table.rs`), and link or unlink nodes
//! there (`queue/node.rs`).

#![deny(unsafe_code)]
// docs.rs shows which feature an item needs, but no other `cfg`, because the interface is the same on every platform.
#![cfg_attr(
    docsrs,
    feature(doc_cfg),
    doc(auto_cfg(hide(
        waitword_loom,
        target_has_atomic = "32",
        target_has_atomic = "64",
        target_family = "wasm",
        target_os = "unknown"
    )))
)]

#[cfg(not(target_has_atomic = "64"))]
compile_error!(
    "waitword requires 64-bit atomic operations, which this target does not have: the states of its locks have 64 bits"
);

#[allow(unsafe_code)]
mod agent;
#[allow(unsafe_code)]
mod inbox;
#[allow(unsafe_code)]
mod list;
#[allow(unsafe_code)]
mod location;
mod may_block;
mod notify;
pub mod observe;
mod outcome;
#[allow(unsafe_code)]
mod park;
#[allow(unsafe_code)]
mod queue;
#[allow(unsafe_code)]
mod requeue;
mod spin;
mod sync;
#[allow(unsafe_code)]
pub mod timer;
#[allow(unsafe_code)]
mod wait;
#[allow(unsafe_code)]
mod wake;
#[allow(unsafe_code)]
mod watchdog;
mod word;

pub use agent::InboxWait;
pub use inbox::Inbox;
pub use location::{At, Location, Value};
pub use may_block::{AllowBlocking, ForbidBlocking, allow_blocking, forbid_blocking, may_block};
pub use notify::{
    charge_release, is_queue_stalled, notify_all, notify_last, notify_last_or_replace, notify_many,
    notify_one, notify_one_or_replace, replace_and_notify_all, replace_if_idle, signal_one, signal_one_or,
    signal_past,
};
pub use outcome::{Cancelled, Interrupted, Outcome};
pub use park::{Interrupt, Parker};
pub use queue::table::Table;
pub use requeue::requeue_while_equal;
pub use spin::spin_in_poll;
pub use timer::Alarm;
pub use wait::{
    NoDeadline, Until, WaitAsync, wait, wait_async, wait_async_for, wait_async_from, wait_async_until,
    wait_for, wait_from, wait_interruptible, wait_until,
};
pub use watchdog::STALL_TIMEOUT;
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
#[doc(hidden)]
pub mod host {
    //! The interface to a host of agents, for `waitword-web`.

    pub use crate::sync::host::{Host, start};
    pub use crate::sync::spins;
    pub use crate::timer::expire_due;
}

pub use word::{Masked, Masked64, Word};

#[doc(hidden)]
pub use queue::snapshot::count_threads;
pub use sync::time;

/// Atomics and locks: the standard library's, or the model checker's in a model.
#[doc(hidden)]
pub use sync::{Mutex, OnceLock, atomic, is_broken, lock};
#[cfg(not(waitword_loom))]
#[doc(hidden)]
pub use watchdog::{disable_watchdog, is_watchdog_running};

#[doc = include_str!("../PROTOCOL.md")]
pub mod protocol {}

/// Compiles and runs the README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
