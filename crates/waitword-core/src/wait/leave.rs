//! "Did I leave the queue, or was I notified?" Timeout, drop and termination all ask here.
//!
//! ```text
//!   waiter whose deadline passed          notifier
//!   ────────────────────────────          ────────────────────────────
//!                                         lock; dequeue the waiter; unlock
//!   lock; it is not in the queue          wake it
//!   → it was counted: Notified
//!
//!   lock; it is in the queue: unlink
//!   unlock → TimedOut                     lock; it is not there: count another
//! ```
//! The first of the two to take the lock decides for both. Being in the queue is the state; there is no second one that
//! could disagree with it.

use std::pin::Pin;

use crate::outcome::Cancelled;
use crate::table::{Table, release};
use crate::waiter::node::{Waiter, is_queued};

/// Makes `node`, queued or completed, leave. Its memory may go then (unless an inbox holds it).
pub(crate) fn leave(table: &Table, node: Pin<&Waiter>) -> Cancelled {
    if !is_queued(node.state()) {
        return Cancelled::AfterNotify;
    }
    let (key, mut locked) = table.lock_of(node);
    let cancelled = locked.leave(key, node);
    release(locked);
    cancelled
}
