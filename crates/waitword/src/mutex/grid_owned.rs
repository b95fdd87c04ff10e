//! The ways to lock over an `Arc`.

use std::sync::Arc;
use waitword_core::time::{Duration, Instant};

use crate::acquire;
use crate::error::LockError;
use crate::mutex::futures::{MutexLockOwned, MutexLockOwnedUntil};
use crate::mutex::lock::Mutex;
use crate::mutex::owned::OwnedMutexGuard;

/// # Over an `Arc`
/// The guards and the futures of these methods have a share in the mutex. So they can be stored in a struct or moved into a
/// task.
///
/// The methods take the `Arc` by reference: the caller keeps the `Arc` if an attempt fails, and the reference count changes
/// only when a guard or a future is made.
impl<T: ?Sized> Mutex<T> {
    /// As [`lock`](Self::lock), with a guard that has a share in the mutex.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use waitword::Mutex;
    ///
    /// let mutex = Arc::new(Mutex::new(1));
    /// let mut guard = mutex.lock_owned();
    /// drop(mutex);
    /// *guard += 1;
    /// ```
    ///
    /// # Panics
    /// If the mutex is held and this thread must not block ([`forbid_blocking`](crate::forbid_blocking)): use
    /// [`lock_owned_async`](Self::lock_owned_async) there.
    #[doc(alias("lock_arc", "blocking_lock_owned", "lock_arc_blocking"))]
    #[inline]
    #[track_caller]
    pub fn lock_owned(self: &Arc<Self>) -> OwnedMutexGuard<T> {
        let hold = self.acquire(|| "lock_owned_async");
        // SAFETY: acquired just now, for this guard alone (invariant 1).
        unsafe { OwnedMutexGuard::new(Arc::clone(self), hold) }
    }

    /// As [`try_lock`](Self::try_lock), with a guard that has a share in the mutex.
    #[doc(alias = "try_lock_arc")]
    #[must_use = "if it is a guard, the mutex is released when that is dropped"]
    #[inline]
    #[track_caller]
    pub fn try_lock_owned(self: &Arc<Self>) -> Option<OwnedMutexGuard<T>> {
        // SAFETY: made only if the mutex was acquired, for this guard alone (invariant 1).
        acquire::try_take(&self.raw, ()).map(|hold| unsafe { OwnedMutexGuard::new(Arc::clone(self), hold) })
    }

    /// As [`lock_for`](Self::lock_for), with a guard that has a share in the mutex.
    ///
    /// # Errors
    /// As [`lock_until`](Self::lock_until).
    #[doc(alias = "try_lock_arc_for")]
    #[inline]
    #[track_caller]
    pub fn lock_owned_for(self: &Arc<Self>, timeout: Duration) -> Result<OwnedMutexGuard<T>, LockError> {
        let hold = self.acquire_until(|| Instant::now().checked_add(timeout))?;
        // SAFETY: acquired just now, for this guard alone (invariant 1).
        Ok(unsafe { OwnedMutexGuard::new(Arc::clone(self), hold) })
    }

    /// As [`lock_until`](Self::lock_until), with a guard that has a share in the mutex.
    ///
    /// # Errors
    /// As [`lock_until`](Self::lock_until).
    #[doc(alias = "try_lock_arc_until")]
    #[inline]
    #[track_caller]
    pub fn lock_owned_until(self: &Arc<Self>, deadline: Instant) -> Result<OwnedMutexGuard<T>, LockError> {
        let hold = self.acquire_until(|| Some(deadline))?;
        // SAFETY: acquired just now, for this guard alone (invariant 1).
        Ok(unsafe { OwnedMutexGuard::new(Arc::clone(self), hold) })
    }

    /// As [`lock_async`](Self::lock_async), with a guard and a future that have a share in the mutex.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use waitword::Mutex;
    ///
    /// # smol::block_on(async {
    /// let mutex = Arc::new(Mutex::new(1));
    /// let locked = mutex.lock_owned_async();
    /// // Another task gets the guard, and locks and releases where it pleases.
    /// smol::spawn(async move { *locked.await += 1 }).await;
    /// assert_eq!(*mutex.lock_async().await, 2);
    /// # });
    /// ```
    ///
    /// # Cancellation
    /// As [`lock_async`](Self::lock_async).
    ///
    /// # Panics
    /// As [`lock_async`](Self::lock_async).
    #[doc(alias("lock_async_owned", "lock_arc", "lock_owned"))]
    #[inline]
    #[track_caller]
    pub fn lock_owned_async(self: &Arc<Self>) -> MutexLockOwned<T> {
        MutexLockOwned::new(Arc::clone(self))
    }

    /// As [`lock_async_for`](Self::lock_async_for), with a guard and a future that have a share in the mutex.
    ///
    /// # Errors
    /// As [`lock_async_until`](Self::lock_async_until).
    ///
    /// # Cancellation
    /// As [`lock_async`](Self::lock_async).
    ///
    /// # Panics
    /// As [`lock_async_until`](Self::lock_async_until).
    #[doc(alias = "lock_async_owned_for")]
    #[track_caller]
    pub fn lock_owned_async_for(self: &Arc<Self>, timeout: Duration) -> MutexLockOwnedUntil<T> {
        MutexLockOwnedUntil::new(Arc::clone(self), Instant::now().checked_add(timeout))
    }

    /// As [`lock_async_until`](Self::lock_async_until), with a guard and a future that have a share in the mutex.
    ///
    /// # Errors
    /// [`TimedOut`](LockError::TimedOut), never before the deadline.
    ///
    /// # Cancellation
    /// As [`lock_async`](Self::lock_async).
    ///
    /// # Panics
    /// As [`lock_async_until`](Self::lock_async_until).
    #[doc(alias = "lock_async_owned_until")]
    #[track_caller]
    pub fn lock_owned_async_until(self: &Arc<Self>, deadline: Instant) -> MutexLockOwnedUntil<T> {
        MutexLockOwnedUntil::new(Arc::clone(self), Some(deadline))
    }
}
