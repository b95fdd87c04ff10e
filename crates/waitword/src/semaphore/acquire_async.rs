//! The acquire methods that are futures.

use waitword_core::time::{Duration, Instant};

#[cfg(doc)]
use crate::semaphore::{AcquireError, Closed};
use crate::semaphore::{Semaphore, SemaphoreAcquire, SemaphoreAcquireUntil};

/// # Acquiring as a task
/// The same methods as futures.
impl Semaphore {
    /// Acquires a permit without blocking this thread. The future is ready with it.
    ///
    /// Works with any executor. Nothing happens before the first poll, which enqueues if it has to.
    ///
    /// ```
    /// # smol::block_on(async {
    /// let semaphore = waitword::Semaphore::new(1);
    /// let permit = semaphore.acquire_async().await.unwrap();
    /// assert_eq!(semaphore.available_permits(), 0);
    /// # drop(permit);
    /// # });
    /// ```
    ///
    /// # Errors
    /// [`Closed`], whatever there is.
    ///
    /// # Cancellation
    /// Dropping the future dequeues it, at whatever moment. Its signal, and permits that were reserved for it, are forwarded to
    /// the next waiter. A future that is polled again later, as in a loop around `select!`, keeps its position, so keep the
    /// future rather than make a new one.
    ///
    /// # Fairness
    /// See [the type](Self#fairness). A poll tries and enqueues; it does not spin.
    ///
    /// # Panics
    /// When polled again after it was ready.
    #[doc(alias("async_acquire", "permit"))]
    #[inline]
    #[track_caller]
    pub fn acquire_async(&self) -> SemaphoreAcquire<'_> {
        SemaphoreAcquire::new(self, 1)
    }

    /// As [`acquire_async`](Self::acquire_async), for so many permits, all at once.
    ///
    /// ```
    /// # smol::block_on(async {
    /// let semaphore = waitword::Semaphore::new(10);
    /// let all = semaphore.acquire_many_async(10).await.unwrap();
    /// assert!(semaphore.try_acquire().is_err());
    /// # drop(all);
    /// # });
    /// ```
    ///
    /// # Errors
    /// [`Closed`], whatever there is.
    ///
    /// # Cancellation
    /// As [`acquire_async`](Self::acquire_async).
    ///
    /// # Panics
    /// As [`acquire_async`](Self::acquire_async); and if they are more than [`MAX_PERMITS`](Self::MAX_PERMITS), at this call.
    #[inline]
    #[track_caller]
    pub fn acquire_many_async(&self, permits: usize) -> SemaphoreAcquire<'_> {
        SemaphoreAcquire::new(self, permits)
    }

    /// As [`acquire_async`](Self::acquire_async), for `timeout` at the longest, counted from this call.
    ///
    /// A timeout that goes beyond what [`Instant`] can hold waits without an end.
    ///
    /// ```
    /// use std::time::Duration;
    /// use waitword::{AcquireError, Semaphore};
    ///
    /// # smol::block_on(async {
    /// let semaphore = Semaphore::new(0);
    /// let late = semaphore.acquire_async_for(Duration::from_millis(1)).await;
    /// assert_eq!(late.unwrap_err(), AcquireError::TIMED_OUT);
    /// # });
    /// ```
    ///
    /// # Errors
    /// As [`acquire_async_until`](Self::acquire_async_until).
    ///
    /// # Cancellation
    /// As [`acquire_async`](Self::acquire_async).
    ///
    /// # Panics
    /// As [`acquire_async_until`](Self::acquire_async_until).
    #[doc(alias("try_acquire_for_async", "acquire_timeout_async"))]
    #[track_caller]
    pub fn acquire_async_for(&self, timeout: Duration) -> SemaphoreAcquireUntil<'_> {
        self.acquire_many_async_for(1, timeout)
    }

    /// As [`acquire_many_async`](Self::acquire_many_async), for `timeout` at the longest, counted from this call.
    ///
    /// # Errors
    /// As [`acquire_async_until`](Self::acquire_async_until).
    ///
    /// # Cancellation
    /// As [`acquire_async`](Self::acquire_async).
    ///
    /// # Panics
    /// As [`acquire_many_async_until`](Self::acquire_many_async_until).
    #[track_caller]
    pub fn acquire_many_async_for(&self, permits: usize, timeout: Duration) -> SemaphoreAcquireUntil<'_> {
        SemaphoreAcquireUntil::new(self, permits, Instant::now().checked_add(timeout))
    }

    /// As [`acquire_async`](Self::acquire_async), until `deadline` at the latest. A permit that is there is acquired also
    /// after it.
    ///
    /// Needs no timer of the executor's.
    ///
    /// # Errors
    /// [`TimedOut`](AcquireError::TimedOut), never before the deadline; [`Closed`](AcquireError::Closed), whatever there is.
    ///
    /// # Cancellation
    /// As [`acquire_async`](Self::acquire_async).
    ///
    /// # Panics
    /// As [`acquire_async`](Self::acquire_async); and when it has to wait, if it is the first in the process and the system
    /// cannot start the thread that keeps the time.
    #[doc(alias = "try_acquire_until_async")]
    #[track_caller]
    pub fn acquire_async_until(&self, deadline: Instant) -> SemaphoreAcquireUntil<'_> {
        self.acquire_many_async_until(1, deadline)
    }

    /// As [`acquire_many_async`](Self::acquire_many_async), until `deadline` at the latest.
    ///
    /// # Errors
    /// As [`acquire_async_until`](Self::acquire_async_until).
    ///
    /// # Cancellation
    /// As [`acquire_async`](Self::acquire_async).
    ///
    /// # Panics
    /// As [`acquire_async_until`](Self::acquire_async_until); and if they are more than [`MAX_PERMITS`](Self::MAX_PERMITS),
    /// at this call.
    #[track_caller]
    pub fn acquire_many_async_until(&self, permits: usize, deadline: Instant) -> SemaphoreAcquireUntil<'_> {
        SemaphoreAcquireUntil::new(self, permits, Some(deadline))
    }
}
