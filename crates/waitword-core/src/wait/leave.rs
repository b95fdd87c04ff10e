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

use crate::observe::{DELAYS, End, Ended, WaitsFor, asks, ended, nanos_of};
use crate::outcome::Cancelled;
use crate::table::{Table, release};
use crate::waiter::node::{Waiter, is_queued};

/// Makes `node`, queued or completed, leave; reports say how its wait has ended. Its memory may go then.
pub(crate) fn leave(table: &Table, node: Pin<&Waiter>, end: End) -> Cancelled {
    let (cancelled, left) = leave_untold(table, node);
    tell_end(end, node, left);
    cancelled
}

/// What a waiter waited for that was queued to its end, and since when.
pub(super) type LeftQueue = Option<(WaitsFor, Option<u64>)>;

/// As [`leave`], for a wait whose node an inbox may have.
pub(super) fn leave_untold(table: &Table, node: Pin<&Waiter>) -> (Cancelled, LeftQueue) {
    if !is_queued(node.state()) {
        return (Cancelled::AfterNotify, None);
    }
    let (key, mut locked) = table.lock_of(node);
    let was_queued = left_queue(&node);
    let cancelled = locked.leave(key, node);
    release(locked);
    (cancelled, was_queued.filter(|_| cancelled != Cancelled::AfterNotify))
}

/// Of a waiter that is about to leave its queue, under the lock of that.
#[inline]
pub(super) fn left_queue(node: &Waiter) -> LeftQueue {
    asks(DELAYS).then(|| (node.waits_for(), nanos_of(node.ticket())))
}

/// Tells the observer of the end of a wait. The node is not queued any more, and no inbox has it.
#[inline]
pub(crate) fn tell_end(end: End, node: Pin<&Waiter>, left: LeftQueue) {
    ended(|| Ended { end, word: node.address(), who: node.who(), site: node.site(), left });
}
