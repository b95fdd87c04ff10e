//! The ways to wait for tasks: once and while a condition holds. For threads: `threads.rs`.

use std::sync::Arc;

use crate::condvar::Condvar;
use crate::condvar::futures::{CondvarWait, CondvarWaitWhile};
use crate::condvar::guard::CondvarGuard;

impl Condvar {
    /// Releases the mutex, waits until notified without blocking this thread, locks the mutex again and returns its guard.
    ///
    /// The future takes the guard by value, and the mutex stays locked until the first poll. That poll enqueues the wait and then
    /// releases the mutex.
    ///
    /// ```
    /// # smol::block_on(async {
    /// use waitword::{Condvar, Mutex};
    ///
    /// let (ready, changed) = (Mutex::new(false), Condvar::new());
    /// let wait = async {
    ///     let mut guard = ready.lock_async().await;
    ///     while !*guard {
    ///         guard = changed.wait_async(guard).await;
    ///     }
    /// };
    /// let notify = async {
    ///     *ready.lock_async().await = true;
    ///     changed.notify_one();
    /// };
    /// smol::future::zip(wait, notify).await;
    /// # });
    /// ```
    ///
    /// # With a timeout
    /// See [`CondvarWait::timeout`]. After the deadline the wait continues until the mutex is locked.
    ///
    /// ```
    /// # smol::block_on(async {
    /// use std::time::Duration;
    /// use waitword::{Condvar, LockError, Mutex};
    ///
    /// let (mutex, changed) = (Mutex::new(1), Condvar::new());
    /// let guard = mutex.lock_async().await;
    /// let (guard, result) = changed.wait_async(guard).timeout(Duration::from_millis(1)).await;
    /// assert_eq!((*guard, result), (1, Err(LockError::TimedOut)));
    /// # });
    /// ```
    ///
    /// # Cancellation
    /// If the future is dropped, the mutex is not held. The wait is cancel-safe: a [`notify_one`](Self::notify_one) that had counted it is
    /// forwarded to the next waiter. (A [`notify_all`](Self::notify_all) needs no forwarding: it has notified all other
    /// waiters as well.)
    ///
    /// # Fairness
    /// See [the type](Self#fairness). A future that was notified and is not polled delays the mutex for a bounded time only
    /// ([`Mutex`](crate::Mutex#futures-that-nobody-polls)). But it keeps the notify: until it is dropped, no other waiter receives the
    /// wakeup of that [`notify_one`](Self::notify_one). The next notify wakes the next waiter.
    ///
    /// # Panics
    /// - At the first poll, if other waiters use another mutex. The guard's mutex is released then.
    /// - When polled again after it was ready.
    #[doc(alias = "async_wait")]
    #[track_caller]
    pub fn wait_async<G: CondvarGuard>(&self, guard: G) -> CondvarWait<&Self, G> {
        CondvarWait::new(self, guard)
    }

    /// Waits without blocking this thread while `condition` returns `true` for the value in the mutex. Returns the guard.
    ///
    /// If `condition` returns `false`, the future is ready at the first poll.
    ///
    /// ```
    /// use waitword::{Condvar, Mutex};
    ///
    /// static LETTERS: Mutex<Vec<&str>> = Mutex::new(Vec::new());
    /// static ARRIVED: Condvar = Condvar::new();
    ///
    /// # smol::block_on(async {
    /// let thread = std::thread::spawn(|| {
    ///     LETTERS.lock().push("a letter");
    ///     ARRIVED.notify_one();
    /// });
    /// let letters = LETTERS.lock_async().await;
    /// let letters = ARRIVED.wait_while_async(letters, |letters| letters.is_empty()).await;
    /// assert_eq!(*letters, ["a letter"]);
    /// # drop(letters);
    /// # thread.join().unwrap();
    /// # });
    /// ```
    ///
    /// # With a timeout
    /// See [`CondvarWaitWhile::timeout`].
    ///
    /// ```
    /// # smol::block_on(async {
    /// use std::time::Duration;
    /// use waitword::{Condvar, LockError, Mutex};
    ///
    /// let (letters, arrived) = (Mutex::new(Vec::<&str>::new()), Condvar::new());
    /// let letters = letters.lock_async().await;
    /// let timeout = Duration::from_millis(1);
    /// let (letters, result) =
    ///     arrived.wait_while_async(letters, |letters| letters.is_empty()).timeout(timeout).await;
    /// assert_eq!((letters.len(), result), (0, Err(LockError::TimedOut)));
    /// # });
    /// ```
    ///
    /// # Cancellation
    /// As with [`wait_async`](Self::wait_async).
    ///
    /// # Panics
    /// As [`wait_async`](Self::wait_async) does, and if `condition` panics. The mutex is released then.
    #[track_caller]
    pub fn wait_while_async<G: CondvarGuard, C: FnMut(&mut G::Target) -> bool>(
        &self,
        guard: G,
        condition: C,
    ) -> CondvarWaitWhile<&Self, G, C> {
        CondvarWaitWhile::new(self, guard, condition)
    }
}

/// # Over an `Arc`
/// The futures of these methods hold an `Arc` of the condition variable. With an
/// [`OwnedMutexGuard`](crate::OwnedMutexGuard), which holds an `Arc` of the mutex, they are `'static`: they can be moved into a
/// task, or stored in a struct beside the two and polled by a hand-written `poll_*`.
///
/// The methods take the `Arc` by reference and clone it for each wait.
impl Condvar {
    /// Releases the mutex, waits until notified without blocking this thread, locks the mutex again and returns its guard. The future holds
    /// an `Arc` of the condition variable.
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
    /// # Cancellation, fairness, panics
    /// As with [`wait_async`](Self::wait_async).
    #[doc(alias("wait_async_owned", "wait_arc"))]
    #[track_caller]
    pub fn wait_owned_async<G: CondvarGuard>(self: &Arc<Self>, guard: G) -> CondvarWait<Arc<Self>, G> {
        CondvarWait::new(Arc::clone(self), guard)
    }

    /// Waits without blocking this thread while `condition` returns `true` for the value in the mutex, and returns the guard. The future holds
    /// an `Arc` of the condition variable.
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
    /// # Cancellation, panics
    /// As with [`wait_while_async`](Self::wait_while_async).
    #[track_caller]
    pub fn wait_while_owned_async<G: CondvarGuard, C: FnMut(&mut G::Target) -> bool>(
        self: &Arc<Self>,
        guard: G,
        condition: C,
    ) -> CondvarWaitWhile<Arc<Self>, G, C> {
        CondvarWaitWhile::new(Arc::clone(self), guard, condition)
    }
}
