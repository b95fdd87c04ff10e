//! The same grid over an `Arc`: permits and futures that have a share in the semaphore, and borrow nothing.

use std::sync::Arc;
use waitword_core::time::{Duration, Instant};

use crate::semaphore::{
    AcquireError, Closed, OwnedSemaphorePermit, Semaphore, SemaphoreAcquireOwned, SemaphoreAcquireOwnedUntil,
    TryAcquireError,
};

/// # Over an `Arc`
/// The permits and the futures of these methods have a share in the semaphore, so they can be stored in a struct or moved
/// to a task of their own.
///
/// They take the `Arc` by reference: an attempt that fails leaves the `Arc` with its caller, and the count changes only
/// when a future is made or permits are acquired.
impl Semaphore {
    /// As [`acquire`](Self::acquire), with a permit that has a share in the semaphore.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use waitword::Semaphore;
    ///
    /// let semaphore = Arc::new(Semaphore::new(1));
    /// let permit = semaphore.acquire_owned().unwrap();
    /// // It goes where it likes, and comes back when that thread is done.
    /// std::thread::spawn(move || drop(permit)).join().unwrap();
    /// assert_eq!(semaphore.available_permits(), 1);
    /// ```
    ///
    /// # Errors
    /// [`Closed`], whatever there is.
    ///
    /// # Panics
    /// As [`acquire`](Self::acquire): use [`acquire_owned_async`](Self::acquire_owned_async) there.
    #[doc(alias("acquire_arc", "acquire_arc_blocking", "blocking_acquire_owned"))]
    #[inline]
    #[track_caller]
    pub fn acquire_owned(self: &Arc<Self>) -> Result<OwnedSemaphorePermit, Closed> {
        let hold = self.block(|| 1, || "acquire_owned_async")?;
        Ok(OwnedSemaphorePermit::new(Arc::clone(self), 1, hold))
    }

    /// As [`acquire_many`](Self::acquire_many), with permits that have a share in the semaphore.
    ///
    /// # Errors
    /// [`Closed`], whatever there is.
    ///
    /// # Panics
    /// As [`acquire_many`](Self::acquire_many).
    #[doc(alias("acquire_many_arc", "acquire_owned_many"))]
    #[inline]
    #[track_caller]
    pub fn acquire_many_owned(self: &Arc<Self>, permits: usize) -> Result<OwnedSemaphorePermit, Closed> {
        let hold = self.block(move || permits, || "acquire_many_owned_async")?;
        Ok(OwnedSemaphorePermit::new(Arc::clone(self), permits, hold))
    }

    /// As [`try_acquire`](Self::try_acquire), with a permit that has a share in the semaphore.
    ///
    /// # Errors
    /// As [`try_acquire`](Self::try_acquire).
    #[doc(alias = "try_acquire_arc")]
    #[inline]
    #[track_caller]
    pub fn try_acquire_owned(self: &Arc<Self>) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        let hold = self.take(1)?;
        Ok(OwnedSemaphorePermit::new(Arc::clone(self), 1, hold))
    }

    /// As [`try_acquire_many`](Self::try_acquire_many), with permits that have a share in the semaphore.
    ///
    /// # Errors
    /// As [`try_acquire`](Self::try_acquire).
    #[doc(alias = "try_acquire_many_arc")]
    #[inline]
    #[track_caller]
    pub fn try_acquire_many_owned(
        self: &Arc<Self>,
        permits: usize,
    ) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        let hold = self.take(permits)?;
        Ok(OwnedSemaphorePermit::new(Arc::clone(self), permits, hold))
    }

    /// As [`acquire_for`](Self::acquire_for), with a permit that has a share in the semaphore.
    ///
    /// # Errors
    /// As [`acquire_until`](Self::acquire_until).
    #[inline]
    #[track_caller]
    pub fn acquire_owned_for(
        self: &Arc<Self>,
        timeout: Duration,
    ) -> Result<OwnedSemaphorePermit, AcquireError> {
        self.acquire_many_owned_for(1, timeout)
    }

    /// As [`acquire_many_for`](Self::acquire_many_for), with permits that have a share in the semaphore.
    ///
    /// # Errors
    /// As [`acquire_until`](Self::acquire_until).
    ///
    /// # Panics
    /// If they are more than [`MAX_PERMITS`](Self::MAX_PERMITS).
    #[inline]
    #[track_caller]
    pub fn acquire_many_owned_for(
        self: &Arc<Self>,
        permits: usize,
        timeout: Duration,
    ) -> Result<OwnedSemaphorePermit, AcquireError> {
        let hold = self.block_until(permits, || Instant::now().checked_add(timeout))?;
        Ok(OwnedSemaphorePermit::new(Arc::clone(self), permits, hold))
    }

    /// As [`acquire_until`](Self::acquire_until), with a permit that has a share in the semaphore.
    ///
    /// # Errors
    /// As [`acquire_until`](Self::acquire_until).
    #[inline]
    #[track_caller]
    pub fn acquire_owned_until(
        self: &Arc<Self>,
        deadline: Instant,
    ) -> Result<OwnedSemaphorePermit, AcquireError> {
        self.acquire_many_owned_until(1, deadline)
    }

    /// As [`acquire_many_until`](Self::acquire_many_until), with permits that have a share in the semaphore.
    ///
    /// # Errors
    /// As [`acquire_until`](Self::acquire_until).
    ///
    /// # Panics
    /// If they are more than [`MAX_PERMITS`](Self::MAX_PERMITS).
    #[inline]
    #[track_caller]
    pub fn acquire_many_owned_until(
        self: &Arc<Self>,
        permits: usize,
        deadline: Instant,
    ) -> Result<OwnedSemaphorePermit, AcquireError> {
        let hold = self.block_until(permits, || Some(deadline))?;
        Ok(OwnedSemaphorePermit::new(Arc::clone(self), permits, hold))
    }

    /// As [`acquire_async`](Self::acquire_async), with a permit and a future that have a share in the semaphore.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use waitword::Semaphore;
    ///
    /// # smol::block_on(async {
    /// let downloads = Arc::new(Semaphore::new(2));
    /// // The permit goes into the task, which may begin only when there is one.
    /// for _ in 0..4 {
    ///     let permit = downloads.acquire_owned_async().await.unwrap();
    ///     smol::spawn(async move { drop(permit) }).detach();
    /// }
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
    /// As [`acquire_async`](Self::acquire_async).
    #[doc(alias("acquire_arc", "acquire_owned", "acquire_async_owned"))]
    #[inline]
    #[track_caller]
    pub fn acquire_owned_async(self: &Arc<Self>) -> SemaphoreAcquireOwned {
        SemaphoreAcquireOwned::new(Arc::clone(self), 1)
    }

    /// As [`acquire_many_async`](Self::acquire_many_async), with permits and a future that have a share in the semaphore.
    ///
    /// # Errors
    /// [`Closed`], whatever there is.
    ///
    /// # Cancellation
    /// As [`acquire_async`](Self::acquire_async).
    ///
    /// # Panics
    /// As [`acquire_many_async`](Self::acquire_many_async).
    #[doc(alias("acquire_many_owned", "acquire_many_async_owned"))]
    #[inline]
    #[track_caller]
    pub fn acquire_many_owned_async(self: &Arc<Self>, permits: usize) -> SemaphoreAcquireOwned {
        SemaphoreAcquireOwned::new(Arc::clone(self), permits)
    }

    /// As [`acquire_async_for`](Self::acquire_async_for), with a permit and a future that have a share in the semaphore.
    ///
    /// # Errors
    /// As [`acquire_async_until`](Self::acquire_async_until).
    ///
    /// # Cancellation
    /// As [`acquire_async`](Self::acquire_async).
    ///
    /// # Panics
    /// As [`acquire_async_until`](Self::acquire_async_until).
    #[track_caller]
    pub fn acquire_owned_async_for(self: &Arc<Self>, timeout: Duration) -> SemaphoreAcquireOwnedUntil {
        self.acquire_many_owned_async_for(1, timeout)
    }

    /// As [`acquire_many_async_for`](Self::acquire_many_async_for), with permits and a future that have a share in the
    /// semaphore.
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
    pub fn acquire_many_owned_async_for(
        self: &Arc<Self>,
        permits: usize,
        timeout: Duration,
    ) -> SemaphoreAcquireOwnedUntil {
        SemaphoreAcquireOwnedUntil::new(Arc::clone(self), permits, Instant::now().checked_add(timeout))
    }

    /// As [`acquire_async_until`](Self::acquire_async_until), with a permit and a future that have a share in the semaphore.
    ///
    /// # Errors
    /// As [`acquire_async_until`](Self::acquire_async_until).
    ///
    /// # Cancellation
    /// As [`acquire_async`](Self::acquire_async).
    ///
    /// # Panics
    /// As [`acquire_async_until`](Self::acquire_async_until).
    #[track_caller]
    pub fn acquire_owned_async_until(self: &Arc<Self>, deadline: Instant) -> SemaphoreAcquireOwnedUntil {
        self.acquire_many_owned_async_until(1, deadline)
    }

    /// As [`acquire_many_async_until`](Self::acquire_many_async_until), with permits and a future that have a share in the
    /// semaphore.
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
    pub fn acquire_many_owned_async_until(
        self: &Arc<Self>,
        permits: usize,
        deadline: Instant,
    ) -> SemaphoreAcquireOwnedUntil {
        SemaphoreAcquireOwnedUntil::new(Arc::clone(self), permits, Some(deadline))
    }
}
