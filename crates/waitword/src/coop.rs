//! How the futures take part in tokio's cooperative scheduling, with the feature `tokio`.
//!
//! tokio gives a task a budget for each poll, and a future that completes consumes a unit of it. Once the budget is
//! exhausted the futures that take part are pending, so that the task yields to the others on its worker:
//!
//! ```text
//!   a task                                   the worker
//!   ────────────────────────────────         ───────────────────────────────────────
//!   polled with a budget of 128              polls the task
//!   lock_async().await: ready at once        (the other tasks, timers and sockets wait)
//!   ... and so for ever                      never gets control back
//!
//!   the 129th is pending                     polls the others, and the task again
//! ```
//! Only three loops ask for a unit: those of `acquire/` and `async_lock/` before they take what others may need, that of `condition/` before
//! it returns an output that it has already.
//!
//! Without the feature a [`Unit`] is always there and has no size, and none of this is left after inlining.

use std::task::{Context, Poll};

#[cfg(feature = "tokio")]
use tokio::task::coop;

/// Whether futures consume budget.
pub(crate) const TAKES_PART: bool = cfg!(feature = "tokio");

/// One unit of the budget of this task. It goes back when it is dropped, unless it was [consumed](Unit::consume).
#[must_use = "a unit that is not consumed goes back"]
pub(crate) struct Unit {
    #[cfg(feature = "tokio")]
    restores: coop::RestoreOnPending,
}

impl Unit {
    /// A unit of the budget. Pending if none is left: the task is woken again after the others.
    ///
    /// Outside of a task of tokio's the budget has no end.
    #[inline(always)]
    pub(crate) fn poll(cx: &mut Context<'_>) -> Poll<Self> {
        #[cfg(feature = "tokio")]
        return coop::poll_proceed(cx).map(|restores| Self { restores });
        #[cfg(not(feature = "tokio"))]
        {
            let _ = cx;
            Poll::Ready(Self {})
        }
    }

    /// The future completes.
    #[inline(always)]
    pub(crate) fn consume(self) {
        #[cfg(feature = "tokio")]
        self.restores.made_progress();
    }
}

/// Whether the task that is polled is one of a runtime with one thread, as far as tokio says; only asked while holders are recorded. That a
/// runtime was entered does not say so: another executor's threads may have entered it, for its timers.
pub(crate) fn is_alone() -> bool {
    #[cfg(feature = "tokio")]
    {
        use tokio::runtime::{Handle, RuntimeFlavor};
        let is_single = |runtime: Handle| runtime.runtime_flavor() == RuntimeFlavor::CurrentThread;
        tokio::task::try_id().is_some() && Handle::try_current().is_ok_and(is_single)
    }
    #[cfg(not(feature = "tokio"))]
    false
}
