//! The waits over an `Arc`: futures that have a share in the group, and borrow nothing.

use std::sync::Arc;
use waitword_core::time::{Duration, Instant};

use crate::condition::{WaitFor, WaitUntil};
use crate::wait_group::group::{WaitGroup, WaitGroupWaitOwned, WaitGroupWaitOwnedUntil};
use crate::wait_group::raw::WaitGroupWaiter;

/// # Over an `Arc`
/// The futures of these methods have a share in the group and are `'static`, so they can be moved to a task of their own, or
/// stored in a struct beside the group and polled by a hand-written `poll_*`.
///
/// They take the `Arc` by reference. Each wait holds one more share, and another while it is queued.
impl WaitGroup {
    /// As [`wait_async`](Self::wait_async), with a future that has a share in the group.
    ///
    /// ```
    /// # smol::block_on(async {
    /// use std::sync::Arc;
    /// use waitword::WaitGroup;
    ///
    /// let group = Arc::new(WaitGroup::new());
    /// let token = group.add_owned();
    /// let all_done = smol::spawn(group.wait_owned_async());
    /// // The task has what it needs.
    /// drop(group);
    /// drop(token);
    /// all_done.await;
    /// # });
    /// ```
    ///
    /// # Cancellation
    /// As [`wait_async`](Self::wait_async).
    ///
    /// # Panics
    /// As [`wait_async`](Self::wait_async).
    #[doc(alias("wait_async_owned", "wait_arc"))]
    #[track_caller]
    pub fn wait_owned_async(self: &Arc<Self>) -> WaitGroupWaitOwned {
        WaitGroupWaitOwned::of(WaitFor::new(WaitGroupWaiter::new(Arc::clone(self))))
    }

    /// As [`wait_async_for`](Self::wait_async_for), with a future that has a share in the group.
    ///
    /// # Errors
    /// As [`wait_async_until`](Self::wait_async_until).
    ///
    /// # Cancellation
    /// As [`wait_async`](Self::wait_async).
    ///
    /// # Panics
    /// As [`wait_async_until`](Self::wait_async_until).
    #[track_caller]
    pub fn wait_owned_async_for(self: &Arc<Self>, timeout: Duration) -> WaitGroupWaitOwnedUntil {
        let waiter = WaitGroupWaiter::new(Arc::clone(self));
        WaitGroupWaitOwnedUntil::of(WaitUntil::new(waiter, Instant::now().checked_add(timeout)))
    }

    /// As [`wait_async_until`](Self::wait_async_until), with a future that has a share in the group.
    ///
    /// # Errors
    /// [`TimedOut`](crate::LockError::TimedOut), never before the deadline.
    ///
    /// # Cancellation
    /// As [`wait_async`](Self::wait_async).
    ///
    /// # Panics
    /// As [`wait_async_until`](Self::wait_async_until).
    #[track_caller]
    pub fn wait_owned_async_until(self: &Arc<Self>, deadline: Instant) -> WaitGroupWaitOwnedUntil {
        let waiter = WaitGroupWaiter::new(Arc::clone(self));
        WaitGroupWaitOwnedUntil::of(WaitUntil::new(waiter, Some(deadline)))
    }
}
