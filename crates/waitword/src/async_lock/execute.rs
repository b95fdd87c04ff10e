//! A callback under the lock. The article's version does not release the lock when the callback throws. These release it then,
//! and also when they are dropped.

use std::future::Future;

use waitword_core::Location;

use crate::async_lock::AsyncLock;
use crate::sync::atomic::AtomicI32;

impl<L: Location<Word = AtomicI32>> AsyncLock<L> {
    /// Takes the lock without blocking this thread, runs `callback` under it, releases it, and is ready with what
    /// `callback` returned.
    ///
    /// Nothing happens before the first poll. If the lock is free then, that poll does everything.
    ///
    /// # Cancellation
    /// If the future is dropped before it is ready, `callback` has not run. As with
    /// [`lock_async`](Self::lock_async), a wakeup that the future received is forwarded to the next waiter.
    ///
    /// # Panics
    /// When `callback` does; the lock is released first. Nothing is poisoned: the next holder may find half a change in
    /// what the lock protects. Otherwise as [`lock_async`](Self::lock_async).
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

    /// As [`execute_locked`](Self::execute_locked), with a callback that may await. The lock is held until it has
    /// ended.
    ///
    /// # Cancellation
    /// If the future is dropped midway, the future of `callback` is dropped first, and then the lock is released.
    ///
    /// # Deadlocks
    /// A task that is not polled while it is in `callback` holds the lock. No stall timeout helps against that.
    ///
    /// # Panics
    /// As [`execute_locked`](Self::execute_locked).
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
