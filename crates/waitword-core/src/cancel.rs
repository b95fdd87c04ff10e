//! "Did I leave the queue myself, or was I notified?" Timeout, drop and termination all ask here.
//!
//! ```text
//!   waiter whose deadline passed          notifier
//!   ────────────────────────────          ────────────────────────────
//!                                         lock; take me off; unlock
//!   lock; I am not in the queue           wake me
//!   → I was counted: Notified
//!
//!   lock; I am in the queue: unlink
//!   unlock → TimedOut                     lock; I am not there: count another
//! ```
//! Whoever holds the lock first decides, for both. Being in the queue is the state; there is no second one that
//! could disagree with it.

use std::pin::Pin;

use crate::table::Table;
use crate::waiter::{Waiter, is_queued};

/// What leaving a queue found. Returned when a wait is given up.
#[must_use = "after a notify the wakeup is this caller's to use or to pass on"]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cancelled {
    /// The waiter was not notified: it left by itself, or never waited.
    BeforeNotify,
    /// As [`BeforeNotify`](Self::BeforeNotify), but it was called ([`call_one`](crate::call_one)) and had not looked. Whoever
    /// builds a lock on the queue calls another now.
    AfterCall,
    /// As [`BeforeNotify`](Self::BeforeNotify), but it had been moved to another word's line
    /// ([`requeue_while_equal`](crate::requeue_while_equal)), and was not called there.
    AfterMove,
    /// A notify had counted this waiter, and the wait had not said so yet. Whoever builds a lock on the queue
    /// passes the wakeup on now, for instance with [`notify_one`](crate::notify_one).
    AfterNotify,
}

/// Makes `node`, queued or settled, leave. Its memory may go then (unless an inbox holds it).
pub(crate) fn leave(table: &Table, node: Pin<&Waiter>) -> Cancelled {
    if !is_queued(node.state()) {
        return Cancelled::AfterNotify;
    }
    let (key, mut locked) = table.lock_of(node);
    let cancelled = locked.leave(key, node);
    locked.release();
    cancelled
}
