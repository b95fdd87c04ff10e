//! The methods that acquire permits: one or many, with permits that borrow and that own.

use std::sync::Arc;

use crate::acquire::grid::{blocking_until, grid};
use crate::semaphore::Semaphore;
use crate::semaphore::error::{AcquireError, Closed, TryAcquireError};
use crate::semaphore::futures::SemaphoreAcquire;
use crate::semaphore::permit::{OwnedSemaphorePermit, SemaphorePermit};

/// # Acquiring
/// `acquire` acquires one permit, `acquire_many` several. Acquiring zero permits succeeds at once, unless the semaphore is
/// closed.
impl Semaphore {
    grid! {
        self: &Self;
        1 => |hold| SemaphorePermit::new(self, 1, hold), "AcquireError", "; [`Closed`](crate::AcquireError::Closed), even if there are permits", "";
        /// Acquires a permit, blocking this thread until one is available.
        ///
        /// ```
        /// let semaphore = waitword::Semaphore::new(1);
        /// let permit = semaphore.acquire().unwrap();
        /// assert_eq!(semaphore.available_permits(), 0);
        /// drop(permit);
        /// assert_eq!(semaphore.available_permits(), 1);
        /// ```
        ///
        /// # Errors
        /// [`Closed`] if the semaphore is closed, even if permits are available.
        ///
        /// # Fairness
        /// See [the type](Self#fairness). A thread that finds too few permits retries for about 5 µs before it enqueues.
        #[doc(alias("wait", "acquire_blocking", "blocking_acquire", "access", "sem_wait", "down"))]
        acquire -> Result<SemaphorePermit<'_>, Closed>;
        /// Attempts to acquire a permit without waiting.
        ///
        /// ```
        /// use waitword::{Semaphore, TryAcquireError};
        ///
        /// let semaphore = Semaphore::new(1);
        /// let permit = semaphore.try_acquire().unwrap();
        /// assert_eq!(semaphore.try_acquire().unwrap_err(), TryAcquireError::NoPermits);
        /// # drop(permit);
        /// ```
        ///
        /// # Errors
        /// - [`NoPermits`](TryAcquireError::NoPermits) if none is available, or those that are available are reserved for queued waiters.
        /// - [`Closed`](TryAcquireError::Closed) if the semaphore is closed, even if permits are available.
        #[doc(alias("try_wait", "sem_trywait"))]
        try_acquire -> Result<SemaphorePermit<'_>, TryAcquireError>;
        /// Acquires a permit without blocking this thread: the task waits until one is available.
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
        /// [`Closed`] if the semaphore is closed, even if permits are available.
        ///
        /// With a timeout ([`SemaphoreAcquire::timeout`]):
        ///
        /// ```
        /// use std::time::Duration;
        /// use waitword::{AcquireError, Semaphore};
        ///
        /// # smol::block_on(async {
        /// let semaphore = Semaphore::new(0);
        /// let late = semaphore.acquire_async().timeout(Duration::from_millis(1)).await;
        /// assert_eq!(late.map(drop), Err(AcquireError::TimedOut));
        /// # });
        /// ```
        #[doc(alias("async_acquire", "permit"))]
        acquire_async -> SemaphoreAcquire<&Self> = SemaphoreAcquire(self, 1);
    }

    blocking_until! {
        self: 1 => |hold| SemaphorePermit::new(self, 1, hold), "AcquireError",
        "; [`Closed`](crate::AcquireError::Closed), even if there are permits";
        /// Acquires a permit, blocking this thread for at most `timeout`.
        ///
        /// ```
        /// use std::time::Duration;
        /// use waitword::{AcquireError, Semaphore};
        ///
        /// let semaphore = Semaphore::new(1);
        /// let permit = semaphore.acquire_for(Duration::ZERO).unwrap();
        /// let late = semaphore.acquire_for(Duration::from_millis(1));
        /// assert_eq!(late.unwrap_err(), AcquireError::TimedOut);
        /// # drop(permit);
        /// ```
        #[doc(alias("try_acquire_for", "acquire_timeout", "sem_timedwait"))]
        acquire_for -> Result<SemaphorePermit<'_>, AcquireError>;
        /// Acquires a permit, blocking this thread until `deadline` at the latest.
        #[doc(alias("try_acquire_until", "acquire_deadline"))]
        acquire_until;
    }

    grid! {
        self: &Self, permits: usize;
        permits => |hold| SemaphorePermit::new(self, permits, hold), "AcquireError", "; [`Closed`](crate::AcquireError::Closed), even if there are permits",
        "At the call, if `permits` is more than [`MAX_PERMITS`](Self::MAX_PERMITS): no semaphore can have that many.";
        /// Acquires `permits` permits together, blocking this thread until that many are available.
        ///
        /// Fairness is that of [`acquire`](Self::acquire).
        ///
        /// ```
        /// let semaphore = waitword::Semaphore::new(10);
        /// let all = semaphore.acquire_many(10).unwrap();
        /// assert!(semaphore.try_acquire().is_err());
        /// # drop(all);
        /// ```
        ///
        /// # Errors
        /// [`Closed`] if the semaphore is closed, even if permits are available.
        #[doc(alias("acquire_many_blocking", "blocking_acquire_many"))]
        acquire_many -> Result<SemaphorePermit<'_>, Closed>;
        /// Attempts to acquire `permits` permits together, without waiting. Acquires all or none.
        ///
        /// # Errors
        /// As with [`try_acquire`](Self::try_acquire): [`NoPermits`](TryAcquireError::NoPermits) means that too few are available.
        try_acquire_many -> Result<SemaphorePermit<'_>, TryAcquireError>;
        /// Acquires `permits` permits together, without blocking this thread: the task waits until that many are available.
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
        /// [`Closed`] if the semaphore is closed, even if permits are available.
        acquire_many_async -> SemaphoreAcquire<&Self> = SemaphoreAcquire(self, permits);
    }
}

/// # Over an `Arc`
/// The permits and the futures of these methods hold an `Arc` of the semaphore, so they can be stored in a struct or moved
/// into a task.
///
/// The methods take the `Arc` by reference: the caller keeps its `Arc` if an attempt fails, and the reference count changes only
/// when a future is created or permits are acquired.
impl Semaphore {
    grid! {
        self: &Arc<Self>;
        1 => |hold| OwnedSemaphorePermit::new(Arc::clone(self), 1, hold), "AcquireError", "; [`Closed`](crate::AcquireError::Closed), even if there are permits", "";
        /// Acquires a permit that holds an `Arc` of the semaphore, blocking this thread until one is available.
        ///
        /// ```
        /// use std::sync::Arc;
        /// use waitword::Semaphore;
        ///
        /// let semaphore = Arc::new(Semaphore::new(1));
        /// let permit = semaphore.acquire_owned().unwrap();
        /// // Another thread takes the permit, and releases it.
        /// std::thread::spawn(move || drop(permit)).join().unwrap();
        /// assert_eq!(semaphore.available_permits(), 1);
        /// ```
        ///
        /// # Errors
        /// [`Closed`] if the semaphore is closed, even if permits are available.
        #[doc(alias("acquire_arc", "acquire_arc_blocking", "blocking_acquire_owned"))]
        acquire_owned -> Result<OwnedSemaphorePermit, Closed>;
        /// Attempts to acquire a permit that holds an `Arc` of the semaphore, without waiting.
        ///
        /// # Errors
        /// As with [`try_acquire`](Self::try_acquire).
        #[doc(alias = "try_acquire_arc")]
        try_acquire_owned -> Result<OwnedSemaphorePermit, TryAcquireError>;
        /// Acquires a permit without blocking this thread, with a future and a permit that hold an `Arc` of the semaphore.
        ///
        /// ```
        /// use std::sync::Arc;
        /// use waitword::Semaphore;
        ///
        /// # smol::block_on(async {
        /// let downloads = Arc::new(Semaphore::new(2));
        /// // The permit is acquired before the task starts, and moves into it.
        /// for _ in 0..4 {
        ///     let permit = downloads.acquire_owned_async().await.unwrap();
        ///     smol::spawn(async move { drop(permit) }).detach();
        /// }
        /// # });
        /// ```
        ///
        /// # Errors
        /// [`Closed`] if the semaphore is closed, even if permits are available.
        #[doc(alias("acquire_arc", "acquire_owned", "acquire_async_owned"))]
        acquire_owned_async -> SemaphoreAcquire<Arc<Self>> = SemaphoreAcquire(Arc::clone(self), 1);
    }

    grid! {
        self: &Arc<Self>, permits: usize;
        permits => |hold| OwnedSemaphorePermit::new(Arc::clone(self), permits, hold), "AcquireError", "; [`Closed`](crate::AcquireError::Closed), even if there are permits",
        "At the call, if `permits` is more than [`MAX_PERMITS`](Self::MAX_PERMITS): no semaphore can have that many.";
        /// Acquires `permits` permits that hold an `Arc` of the semaphore, blocking this thread until that many are available.
        ///
        /// # Errors
        /// [`Closed`] if the semaphore is closed, even if permits are available.
        #[doc(alias("acquire_many_arc", "acquire_owned_many"))]
        acquire_many_owned -> Result<OwnedSemaphorePermit, Closed>;
        /// Attempts to acquire `permits` permits that hold an `Arc` of the semaphore, without waiting. Acquires all or none.
        ///
        /// # Errors
        /// As with [`try_acquire_many`](Self::try_acquire_many).
        #[doc(alias = "try_acquire_many_arc")]
        try_acquire_many_owned -> Result<OwnedSemaphorePermit, TryAcquireError>;
        /// Acquires `permits` permits without blocking this thread, with a future and permits that hold an `Arc` of the semaphore.
        ///
        /// # Errors
        /// [`Closed`] if the semaphore is closed, even if permits are available.
        #[doc(alias("acquire_many_owned", "acquire_many_async_owned"))]
        acquire_many_owned_async -> SemaphoreAcquire<Arc<Self>> = SemaphoreAcquire(Arc::clone(self), permits);
    }
}
