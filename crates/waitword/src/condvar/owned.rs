//! The waits of tasks over an `Arc`: futures that have a share in the condition variable, and borrow nothing.

use std::sync::Arc;
use waitword_core::time::{Duration, Instant};

use crate::condition::OwnedAt;
use crate::condvar::futures::{WaitOnce, WaitOnceUntil, WaitWhile, WaitWhileUntil};
use crate::condvar::guard::CondvarGuard;
use crate::condvar::named::{
    CondvarWaitOwned, CondvarWaitOwnedUntil, CondvarWaitWhileOwned, CondvarWaitWhileOwnedUntil,
};
use crate::condvar::variable::Condvar;

/// # Over an `Arc`
/// The futures of these methods have a share in the condition variable. With an
/// [`OwnedMutexGuard`](crate::OwnedMutexGuard), which has a share in the mutex, they are `'static`: they can be moved into a
/// task, or stored in a struct beside the two and polled by a hand-written `poll_*`.
///
/// The methods take the `Arc` by reference. Each wait holds one share, and one more while it is queued.
impl Condvar {
    /// As [`wait_async`](Self::wait_async), with a future that has a share in the condition variable.
    ///
    /// ```
    /// # smol::block_on(async {
    /// use std::sync::Arc;
    /// use waitword::{Condvar, Mutex};
    ///
    /// let (ready, changed) = (Arc::new(Mutex::new(false)), Arc::new(Condvar::new()));
    /// let waiting = changed.wait_owned_async(ready.lock_owned());
    /// let waiter = smol::spawn(waiting);
    /// // The mutex is released by the first poll.
    /// *ready.lock_async().await = true;
    /// changed.notify_one();
    /// assert!(*waiter.await);
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
    pub fn wait_owned_async<G: CondvarGuard>(self: &Arc<Self>, guard: G) -> CondvarWaitOwned<G> {
        CondvarWaitOwned::of(WaitOnce::new(OwnedAt::new(self), guard))
    }

    /// As [`wait_async_for`](Self::wait_async_for), with a future that has a share in the condition variable.
    ///
    /// Its output, its cancellation and its panics are as with [`wait_async_until`](Self::wait_async_until).
    #[track_caller]
    pub fn wait_owned_async_for<G: CondvarGuard>(
        self: &Arc<Self>,
        guard: G,
        timeout: Duration,
    ) -> CondvarWaitOwnedUntil<G> {
        let deadline = Instant::now().checked_add(timeout);
        CondvarWaitOwnedUntil::of(WaitOnceUntil::new(OwnedAt::new(self), guard, deadline))
    }

    /// As [`wait_async_until`](Self::wait_async_until), with a future that has a share in the condition variable.
    ///
    /// # Cancellation
    /// As [`wait_async`](Self::wait_async).
    ///
    /// # Panics
    /// As [`wait_async_until`](Self::wait_async_until).
    #[track_caller]
    pub fn wait_owned_async_until<G: CondvarGuard>(
        self: &Arc<Self>,
        guard: G,
        deadline: Instant,
    ) -> CondvarWaitOwnedUntil<G> {
        CondvarWaitOwnedUntil::of(WaitOnceUntil::new(OwnedAt::new(self), guard, Some(deadline)))
    }

    /// As [`wait_while_async`](Self::wait_while_async), with a future that has a share in the condition variable.
    ///
    /// ```
    /// # smol::block_on(async {
    /// use std::sync::Arc;
    /// use waitword::{Condvar, Mutex};
    ///
    /// let (letters, arrived) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Condvar::new()));
    /// let waiter = smol::spawn({
    ///     let guard = letters.lock_owned();
    ///     arrived.wait_while_owned_async(guard, |letters| letters.is_empty())
    /// });
    /// letters.lock_async().await.push("a letter");
    /// arrived.notify_one();
    /// assert_eq!(waiter.await.pop(), Some("a letter"));
    /// # });
    /// ```
    ///
    /// # Cancellation
    /// As [`wait_async`](Self::wait_async).
    ///
    /// # Panics
    /// As [`wait_while_async`](Self::wait_while_async).
    #[track_caller]
    pub fn wait_while_owned_async<G, C>(
        self: &Arc<Self>,
        guard: G,
        condition: C,
    ) -> CondvarWaitWhileOwned<G, C>
    where
        G: CondvarGuard,
        C: FnMut(&mut G::Target) -> bool,
    {
        CondvarWaitWhileOwned::of(WaitWhile::new(OwnedAt::new(self), guard, condition))
    }

    /// As [`wait_while_async_for`](Self::wait_while_async_for), with a future that has a share in the condition variable.
    ///
    /// Its output, its cancellation and its panics are as with [`wait_while_async_until`](Self::wait_while_async_until).
    #[track_caller]
    pub fn wait_while_owned_async_for<G, C>(
        self: &Arc<Self>,
        guard: G,
        timeout: Duration,
        condition: C,
    ) -> CondvarWaitWhileOwnedUntil<G, C>
    where
        G: CondvarGuard,
        C: FnMut(&mut G::Target) -> bool,
    {
        let deadline = Instant::now().checked_add(timeout);
        CondvarWaitWhileOwnedUntil::of(WaitWhileUntil::new(OwnedAt::new(self), guard, deadline, condition))
    }

    /// As [`wait_while_async_until`](Self::wait_while_async_until), with a future that has a share in the condition variable.
    ///
    /// # Cancellation
    /// As [`wait_async`](Self::wait_async).
    ///
    /// # Panics
    /// As [`wait_while_async_until`](Self::wait_while_async_until).
    #[track_caller]
    pub fn wait_while_owned_async_until<G, C>(
        self: &Arc<Self>,
        guard: G,
        deadline: Instant,
        condition: C,
    ) -> CondvarWaitWhileOwnedUntil<G, C>
    where
        G: CondvarGuard,
        C: FnMut(&mut G::Target) -> bool,
    {
        CondvarWaitWhileOwnedUntil::of(WaitWhileUntil::new(
            OwnedAt::new(self),
            guard,
            Some(deadline),
            condition,
        ))
    }
}
