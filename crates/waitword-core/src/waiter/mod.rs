//! The waiter as the queue knows it: a node, its place in a list, how it is woken, and how its wait ends.
//!
//! # Who owns a node when
//! ```text
//!           enqueue              complete               the owner reads the outcome
//!   IDLE ─────────────► QUEUED ──────────┬─► NOTIFIED ───────────────────────────► DONE
//!   the owner           the shard's lock │   the owner; an agent's wait: its       the owner, who
//!    ▲                     │             │   inbox, and IDLE again once popped     only drops it
//!    └────────── leave ────┘             └─► TIMED_OUT (an agent's wait only)
//! ```
//! While it is queued a node may be `SIGNALLED` (`notify/signal.rs`): woken without an outcome, its waker gone until its owner
//! sets another. If it does not respond, a pass of the watchdog makes it `OVERDUE`, and the next one `SKIPPED`
//! (`table/watchdog.rs`). Its owner may make it `SIGNAL_REQUESTED`: the next pass signals it; or `PASSED`: signals may go past
//! it. What is said of `QUEUED` nodes here holds for all six.
//!
//! In the child of a fork, a node that another thread than the forking one had queued is `LOST`: in no list (`shard/fork.rs`).
//!
//! A `QUEUED` node is linked into the queue of its word or, once a notify has dequeued it, *detached*: linked into the list
//! that this notify is working off, counted, and not completed yet.
//!
//! # Invariants
//! - **I1** A node is pinned from its first enqueue on, and its owner makes it leave (`Locked::leave`, then
//!   `Inbox::remove_if` if an inbox has it) before its memory goes.
//! - **I2** While `QUEUED`, its `Links` and its entry belong to the holder of the lock of the shard of its `address`.
//! - **I3** After a notifier has stored the outcome of a thread's or task's node, it never touches the node again: the
//!   owner may be gone. The store is its last access, and the waker was taken out before.
//! - **I4** The `Links` and the entry of a completed node that an inbox holds belong to the holder of the inbox's lock.
//! - **I5** Outside of these, both belong to the owner.

mod inbox;
pub(crate) mod list;
pub(crate) mod node;
pub(crate) mod wake;

pub(crate) use inbox::Completed;
pub use inbox::Inbox;

use std::error::Error;
use std::fmt;

/// How a wait ended.
#[must_use = "a wait may end without a notify"]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// A notify counted this waiter, and woke it for that reason alone.
    Notified,
    /// The word did not hold the expected value. Nothing was enqueued.
    NotEqual,
    /// The deadline passed, and no notify had counted this waiter.
    TimedOut,
}

impl Outcome {
    /// The string that ECMA-262 has for it (DoWait): `"ok"`, `"not-equal"` or `"timed-out"`.
    pub const fn as_js(self) -> &'static str {
        match self {
            Self::Notified => "ok",
            Self::NotEqual => "not-equal",
            Self::TimedOut => "timed-out",
        }
    }
}

/// What leaving a queue found. Returned when a wait is given up.
#[must_use = "after a notify the wakeup is this caller's to use or to forward"]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cancelled {
    /// The waiter was not notified: it left by itself, or never waited.
    BeforeNotify,
    /// As [`BeforeNotify`](Self::BeforeNotify), but it was signalled ([`signal_one`](crate::signal_one)) and had not
    /// acknowledged that. A lock that is built on the queue signals another waiter now.
    AfterSignal,
    /// As [`BeforeNotify`](Self::BeforeNotify), but it had been moved to another word's queue
    /// (`requeue_while_equal`), and was not signalled there.
    AfterRequeue,
    /// A notify had counted this waiter, and the wait had not returned that yet. A lock that is built on the queue
    /// forwards the wakeup now, for instance with [`notify_one`](crate::notify_one).
    AfterNotify,
}

/// A blocking wait was ended by its [`Interrupt`](crate::Interrupt); no notify had counted it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the wait was interrupted before anything notified it")
    }
}

impl Error for Interrupted {}
