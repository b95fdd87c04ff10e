//! The word level: waits on atomic words, of which the locks are built, for protocols of your own.
//!
//! It is a futex for threads and tasks: [`wait`] and [`wait_async`] sleep while an atomic word of 32 or 64 bits has an expected value, and
//! [`notify_one`] wakes the head of the word's queue. A wait that a notify ended returns [`Outcome::Notified`]; there are no spurious
//! wakeups. The functions correspond to `Atomics.wait`, `waitAsync` and `notify` of ECMA-262.
//!
//! ```
//! use std::sync::atomic::{AtomicU32, Ordering};
//! use std::thread;
//! use waitword::word::{Outcome, notify_all, wait};
//!
//! static READY: AtomicU32 = AtomicU32::new(0);
//!
//! let thread = thread::spawn(|| {
//!     // Sleeps only if the word is still 0: no notify comes between compare and enqueue.
//!     let outcome = wait(&READY, 0);
//!     assert!(matches!(outcome, Outcome::Notified | Outcome::NotEqual));
//! });
//! READY.store(1, Ordering::SeqCst);
//! notify_all(&READY);
//! thread.join().unwrap();
//! ```
//!
//! | | |
//! |---|---|
//! | [`wait`], [`wait_async`], and with deadlines | enqueue while the word is equal |
//! | [`notify_one`], [`notify_many`], [`notify_all`], [`notify_last`] | dequeue and wake |
//! | [`signal_one`] | wakes the head and leaves it queued, for locks that allow barging |
//! | [`notify_one_or_replace`], [`notify_last_or_replace`], [`replace_and_notify_all`] | change the word and notify in one step |
//! | [`wait_interruptible`], [`Interrupt`] | a blocking wait that another thread can end |
//! | [`Location`], [`At`], [`Table`] | which table holds the queue of a word: that of the process, or one of your own |
//! | [`Word`], [`Masked`], [`Masked64`] | the types that can be waited on; a word of which only some bits are compared |
//! | [`AsyncLock`] | a lock on a word that JavaScript shares |
//! | [`Parker`], [`Alarm`] | the parts of a hand-written wait: block a thread for a future, wake a task at a deadline |
//!
//! [`protocol`] explains why no wakeup is lost.

pub use crate::async_lock::AsyncLock;
#[doc(hidden)]
pub use crate::async_lock::states;
pub use waitword_core::{
    Alarm, At, Cancelled, Interrupt, Interrupted, Location, Masked, Masked64, Outcome, Parker, Table, Until,
    WaitAsync, Word, notify_all, notify_last, notify_last_or_replace, notify_many, notify_one,
    notify_one_or_replace, protocol, replace_and_notify_all, signal_one, wait, wait_async, wait_async_for,
    wait_async_until, wait_for, wait_interruptible, wait_until,
};
