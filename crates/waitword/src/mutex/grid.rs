//! The ways to lock: blocking, trying and as a future, without a deadline and with one.

use std::fmt;
use waitword_core::time::{Duration, Instant};

use crate::acquire;
use crate::error::LockError;
use crate::mutex::futures::{MutexLock, MutexLockUntil};
use crate::mutex::guard::MutexGuard;
use crate::mutex::lock::Mutex;

impl<T: ?Sized> Mutex<T> {
    /// Locks the mutex, blocking this thread until it is acquired.
    ///
    /// ```
    /// let mutex = waitword::Mutex::new(1);
    /// *mutex.lock() += 1;
    /// assert_eq!(*mutex.lock(), 2);
    /// ```
    ///
    /// # Fairness
    /// See [the type](Self#fairness). A thread that finds the mutex held spins for some 5 µs before it enqueues.
    ///
    /// # Panics
    /// If the mutex is held and this thread must not block ([`forbid_blocking`](crate::forbid_blocking)): use
    /// [`lock_async`](Self::lock_async) there.
    ///
    /// # Deadlocks
    /// A thread that locks twice waits for itself. A thread that runs tasks, and blocks on a mutex that one of them holds,
    /// waits for a task that cannot run: `forbid_blocking` finds these.
    #[doc(alias("acquire", "blocking_lock", "lock_blocking", "pthread_mutex_lock"))]
    #[inline]
    #[track_caller]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        let hold = self.acquire(|| "lock_async");
        // SAFETY: acquired just now, for this guard alone (invariant 1).
        unsafe { MutexGuard::new(self, hold) }
    }

    /// Locks the mutex if it is free. Never waits.
    ///
    /// `None` means that the mutex is held, or reserved for the head waiter. The reservation lasts a moment, or some 30 ms if
    /// the head waiter is a future that is not polled ([`guide::what_holds`](crate::guide::what_holds)). Returns an `Option`,
    /// because there is only one reason to fail.
    ///
    /// ```
    /// let mutex = waitword::Mutex::new(1);
    /// let guard = mutex.try_lock().unwrap();
    /// assert!(mutex.try_lock().is_none());
    /// drop(guard);
    /// assert!(mutex.try_lock().is_some());
    /// ```
    #[doc(alias("try_acquire", "pthread_mutex_trylock"))]
    #[must_use = "if it is a guard, the mutex is released when that is dropped"]
    #[inline]
    #[track_caller]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        // SAFETY: made only if the mutex was acquired, for this guard alone (invariant 1).
        acquire::try_take(&self.raw, ()).map(|hold| unsafe { MutexGuard::new(self, hold) })
    }

    /// As [`lock`](Self::lock), for `timeout` at the longest.
    ///
    /// A timeout that goes beyond what [`Instant`] can hold waits without an end.
    ///
    /// ```
    /// use std::time::Duration;
    /// use waitword::{LockError, Mutex};
    ///
    /// let mutex = Mutex::new(1);
    /// let guard = mutex.lock_for(Duration::ZERO).unwrap();
    /// assert_eq!(mutex.lock_for(Duration::from_millis(1)).unwrap_err(), LockError::TIMED_OUT);
    /// # drop(guard);
    /// ```
    ///
    /// # Errors
    /// As [`lock_until`](Self::lock_until).
    #[doc(alias("try_lock_for", "lock_timeout", "pthread_mutex_timedlock"))]
    #[inline]
    #[track_caller]
    pub fn lock_for(&self, timeout: Duration) -> Result<MutexGuard<'_, T>, LockError> {
        let hold = self.acquire_until(|| Instant::now().checked_add(timeout))?;
        // SAFETY: acquired just now, for this guard alone (invariant 1).
        Ok(unsafe { MutexGuard::new(self, hold) })
    }

    /// As [`lock`](Self::lock), until `deadline` at the latest. A mutex that is free is locked also after it.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    ///
    /// let mutex = waitword::Mutex::new(1);
    /// let deadline = Instant::now() + Duration::from_millis(10);
    /// assert_eq!(*mutex.lock_until(deadline).unwrap(), 1);
    /// ```
    ///
    /// # Errors
    /// [`TimedOut`](LockError::TimedOut), never before the deadline; [`BlockingForbidden`](LockError::BlockingForbidden)
    /// at once, if it would have to wait and this thread must not block.
    #[doc(alias("try_lock_until", "lock_deadline"))]
    #[inline]
    #[track_caller]
    pub fn lock_until(&self, deadline: Instant) -> Result<MutexGuard<'_, T>, LockError> {
        let hold = self.acquire_until(|| Some(deadline))?;
        // SAFETY: acquired just now, for this guard alone (invariant 1).
        Ok(unsafe { MutexGuard::new(self, hold) })
    }

    /// Locks without blocking this thread. The future is ready with the guard.
    ///
    /// Works with any executor. Nothing happens before the first poll, which enqueues if the mutex is not free.
    ///
    /// ```
    /// # smol::block_on(async {
    /// let mutex = waitword::Mutex::new(1);
    /// *mutex.lock_async().await += 1;
    /// assert_eq!(*mutex.lock_async().await, 2);
    /// # });
    /// ```
    ///
    /// # Cancellation
    /// Cancel-safe: the future can be dropped at any moment. It leaves the queue then, and forwards a signal that it received.
    /// A future that is polled again later, as in a loop around `select!`, keeps its position: reuse the future instead of
    /// making a new one.
    ///
    /// # Fairness
    /// See [the type](Self#fairness). A poll tries and enqueues; it does not spin.
    ///
    /// # Panics
    /// When polled again after it was ready.
    #[doc(alias("acquire_async", "async_lock"))]
    #[inline]
    #[track_caller]
    pub fn lock_async(&self) -> MutexLock<'_, T> {
        MutexLock::new(self)
    }

    /// As [`lock_async`](Self::lock_async), for `timeout` at the longest, counted from this call.
    ///
    /// A timeout that goes beyond what [`Instant`] can hold waits without an end.
    ///
    /// ```
    /// use std::time::Duration;
    /// use waitword::{LockError, Mutex};
    ///
    /// # smol::block_on(async {
    /// let mutex = Mutex::new(1);
    /// let guard = mutex.lock();
    /// let late = mutex.lock_async_for(Duration::from_millis(1)).await;
    /// assert_eq!(late.unwrap_err(), LockError::TIMED_OUT);
    /// # drop(guard);
    /// # });
    /// ```
    ///
    /// # Errors
    /// As [`lock_async_until`](Self::lock_async_until).
    ///
    /// # Cancellation
    /// As [`lock_async`](Self::lock_async).
    ///
    /// # Panics
    /// As [`lock_async_until`](Self::lock_async_until).
    #[doc(alias("try_lock_for_async", "lock_timeout_async"))]
    #[track_caller]
    pub fn lock_async_for(&self, timeout: Duration) -> MutexLockUntil<'_, T> {
        MutexLockUntil::new(self, Instant::now().checked_add(timeout))
    }

    /// As [`lock_async`](Self::lock_async), until `deadline` at the latest. A mutex that is free is locked also after it.
    ///
    /// Needs no timer of the executor's.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    ///
    /// # smol::block_on(async {
    /// let mutex = waitword::Mutex::new(1);
    /// let deadline = Instant::now() + Duration::from_millis(10);
    /// assert_eq!(*mutex.lock_async_until(deadline).await.unwrap(), 1);
    /// # });
    /// ```
    ///
    /// # Errors
    /// [`TimedOut`](LockError::TimedOut), never before the deadline.
    ///
    /// # Cancellation
    /// As [`lock_async`](Self::lock_async).
    ///
    /// # Panics
    /// As [`lock_async`](Self::lock_async); and when it has to wait, if it is the first in the process and the system cannot
    /// start the timer thread.
    #[doc(alias = "try_lock_until_async")]
    #[track_caller]
    pub fn lock_async_until(&self, deadline: Instant) -> MutexLockUntil<'_, T> {
        MutexLockUntil::new(self, Some(deadline))
    }
}

/// Shows the value if the mutex is free, and holds the mutex meanwhile. Does not wait.
impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Mutex");
        match self.try_lock() {
            Some(guard) => shown.field("data", &&*guard),
            None => shown.field("data", &format_args!("<locked>")),
        };
        shown.finish()
    }
}
