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

use crate::observe::tracing::{self, ACQUIRED, GAVE_UP};
use crate::outcome::Cancelled;
use crate::table::{Table, release};
use crate::waiter::node::{Waiter, is_queued};

/// Why a waiter leaves. Reports distinguish these, the queue does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    /// It has what it waited for.
    Acquired,
    /// It waits no longer.
    GivesUp,
}

/// Makes `node`, queued or completed, leave. Its memory may go then.
pub(crate) fn leave(table: &Table, node: Pin<&Waiter>, ends: Ends) -> Cancelled {
    let cancelled = leave_without_trace(table, node, ends);
    trace_end(if ends == Ends::Acquired { ACQUIRED } else { GAVE_UP }, node);
    cancelled
}

/// As [`leave`], for a wait whose node an inbox may have.
#[cfg_attr(not(feature = "observe"), expect(unused_variables))]
pub(super) fn leave_without_trace(table: &Table, node: Pin<&Waiter>, ends: Ends) -> Cancelled {
    if !is_queued(node.state()) {
        return Cancelled::AfterNotify;
    }
    let (key, mut locked) = table.lock_of(node);
    #[cfg(feature = "observe")]
    let delay = locked.delay_at_leave(key, node, ends == Ends::Acquired);
    let cancelled = locked.leave(key, node);
    release(locked);
    #[cfg(feature = "observe")]
    if let Some(delay) = delay {
        crate::table::charge_at_leave(delay, ends == Ends::Acquired);
    }
    cancelled
}

/// Puts the end of a wait into the trace, if there is one. The node is not queued any more, and no inbox has it.
#[inline]
pub(crate) fn trace_end(kind: u64, node: Pin<&Waiter>) {
    if tracing::is_on() {
        tracing::to_waiter(kind, node.address(), node.who());
    }
}
