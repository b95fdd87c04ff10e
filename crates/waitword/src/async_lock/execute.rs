//! A callback under the lock. The article's version does not release the lock when the callback throws. These release it then,
//! and also when they are dropped.

use std::future::Future;

use waitword_core::Location;

use crate::async_lock::AsyncLock;
use crate::sync::atomic::AtomicI32;

impl<L: Location<Word = AtomicI32>> AsyncLock<L> {
    /// Acquires the lock without blocking this thread, runs `callback`, releases the lock, and returns what `callback` returned.
    ///
    /// Nothing happens before the first poll. If the lock is free then, that poll does everything.
    ///
    /// # Cancellation
    /// If the future is dropped before it is ready, `callback` has not run. As with
    /// [`lock_async`](Self::lock_async), a wakeup that the future received is forwarded to the next waiter.
    ///
    /// # Panics
    /// If `callback` panics; the lock is released first. There is no poisoning: the next holder may find an incomplete change.
    /// Otherwise as with [`lock_async`](Self::lock_async).
    ///
    /// ```
    /// # smol::block_on(async {
    /// let lock = waitword::word::AsyncLock::new();
    /// let mut entered = 0;
    /// let sum = lock.execute_locked(|| { entered += 1; 2 + 2 }).await;
    /// assert_eq!((entered, sum, lock.is_locked()), (1, 4, false));
    /// # });
    /// ```
    #[doc(alias("executeLocked", "with_lock", "run_exclusive"))]
    #[track_caller]
    pub fn execute_locked<T>(&self, callback: impl FnOnce() -> T) -> impl Future<Output = T> {
        let lock = self.lock_async();
        async move {
            lock.await;
            let _held = Held(self);
            callback()
        }
    }

    /// Acquires the lock without blocking this thread, runs the async `callback` to its end, releases the lock, and returns what `callback`
    /// returned.
    ///
    /// # Cancellation
    /// If the future is dropped while `callback` runs, the future of `callback` is dropped first, and then the lock is released.
    ///
    /// # Deadlocks
    /// A task that is not polled while `callback` runs keeps the lock, and others wait without a bound: no stall timeout applies to a
    /// holder.
    ///
    /// # Panics
    /// As with [`execute_locked`](Self::execute_locked).
    ///
    /// ```
    /// # smol::block_on(async {
    /// let lock = waitword::word::AsyncLock::new();
    /// let length = lock.execute_locked_async(async || {
    ///     smol::future::yield_now().await;
    ///     assert!(lock.is_locked());
    ///     "under the lock".len()
    /// });
    /// assert_eq!(length.await, 14);
    /// assert!(!lock.is_locked());
    /// # });
    /// ```
    #[track_caller]
    pub fn execute_locked_async<T>(&self, callback: impl AsyncFnOnce() -> T) -> impl Future<Output = T> {
        let lock = self.lock_async();
        async move {
            lock.await;
            // Declared before the callback's future, so dropped after it.
            let _held = Held(self);
            callback().await
        }
    }
}

/// Releases the held lock when dropped: at the end, in a panic, or with the future.
struct Held<'a, L: Location<Word = AtomicI32>>(&'a AsyncLock<L>);

impl<L: Location<Word = AtomicI32>> Drop for Held<'_, L> {
    fn drop(&mut self) {
        // An error means that the callback has released the lock itself, and there is nothing left to do.
        let _ = self.0.unlock();
    }
}
