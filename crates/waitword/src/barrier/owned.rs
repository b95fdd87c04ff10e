//! The waits over an `Arc`: futures that have a share in the barrier, and borrow nothing.

use std::sync::Arc;
use waitword_core::time::{Duration, Instant};

use crate::barrier::raw::BarrierWaiter;
use crate::barrier::{Arrival, Barrier, BarrierWaitOwned, BarrierWaitOwnedUntil};
use crate::condition::{WaitFor, WaitUntil};

/// # Over an `Arc`
/// The futures of these methods have a share in the barrier and are `'static`, so they can be moved to a task of their own, or
/// stored in a struct beside the barrier and polled by a hand-written `poll_*`.
///
/// They take the `Arc` by reference. Each wait holds one more share, and another while it is queued.
impl Barrier {
    /// As [`wait_async`](Self::wait_async), with a future that has a share in the barrier.
    ///
    /// ```
    /// # smol::block_on(async {
    /// use std::sync::Arc;
    /// use waitword::Barrier;
    ///
    /// let barrier = Arc::new(Barrier::new(2));
    /// let other = smol::spawn(barrier.wait_owned_async());
    /// let leads = barrier.wait_async().await.is_leader();
    /// assert!(leads ^ other.await.is_leader());
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
    pub fn wait_owned_async(self: &Arc<Self>) -> BarrierWaitOwned {
        BarrierWaitOwned::of(WaitFor::new(Arrival(BarrierWaiter::new(Arc::clone(self)))))
    }

    /// As [`wait_async_for`](Self::wait_async_for), with a future that has a share in the barrier.
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
    pub fn wait_owned_async_for(self: &Arc<Self>, timeout: Duration) -> BarrierWaitOwnedUntil {
        let arrival = Arrival(BarrierWaiter::new(Arc::clone(self)));
        BarrierWaitOwnedUntil::of(WaitUntil::new(arrival, Instant::now().checked_add(timeout)))
    }

    /// As [`wait_async_until`](Self::wait_async_until), with a future that has a share in the barrier.
    ///
    /// # Errors
    /// [`TimedOut`](crate::LockError::TimedOut), never before the deadline; it has not arrived then.
    ///
    /// # Cancellation
    /// As [`wait_async`](Self::wait_async).
    ///
    /// # Panics
    /// As [`wait_async_until`](Self::wait_async_until).
    #[track_caller]
    pub fn wait_owned_async_until(self: &Arc<Self>, deadline: Instant) -> BarrierWaitOwnedUntil {
        let arrival = Arrival(BarrierWaiter::new(Arc::clone(self)));
        BarrierWaitOwnedUntil::of(WaitUntil::new(arrival, Some(deadline)))
    }
}
