//! The acquire methods that block or do not wait.

use waitword_core::time::{Duration, Instant};

use waitword_core::observe::holders::HoldId;

use crate::acquire::{self, Blocks};
use crate::semaphore::permits::asked;
use crate::semaphore::{AcquireError, Closed, Semaphore, SemaphorePermit, TryAcquireError};

impl Blocks for Semaphore {
    /// A closed semaphore never blocks, so check that first.
    #[cold]
    #[track_caller]
    fn block(&self, permits: usize, instead: &str) -> Result<HoldId, Closed> {
        if self.is_closed() { Err(Closed) } else { acquire::block(&self.raw, asked(permits), instead) }
    }
}

/// # Acquiring
/// Each method has two forms: for one permit, and for many. An acquire of none succeeds at once, unless the semaphore is
/// closed.
impl Semaphore {
    /// Acquires a permit, blocking this thread until it can.
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
    /// [`Closed`], whatever there is.
    ///
    /// # Fairness
    /// See [the type](Self#fairness). A thread that finds too few retries for some 5 µs before it enqueues.
    ///
    /// # Panics
    /// If there is none and this thread must not block ([`forbid_blocking`](crate::forbid_blocking)): use
    /// [`acquire_async`](Self::acquire_async) there.
    #[doc(alias("wait", "acquire_blocking", "blocking_acquire", "access", "sem_wait", "down"))]
    #[inline]
    #[track_caller]
    pub fn acquire(&self) -> Result<SemaphorePermit<'_>, Closed> {
        self.block(|| 1, || "acquire_async").map(|hold| SemaphorePermit::new(self, 1, hold))
    }

    /// As [`acquire`](Self::acquire), for so many permits, all at once.
    ///
    /// ```
    /// let semaphore = waitword::Semaphore::new(10);
    /// let all = semaphore.acquire_many(10).unwrap();
    /// assert!(semaphore.try_acquire().is_err());
    /// # drop(all);
    /// ```
    ///
    /// # Errors
    /// [`Closed`], whatever there is.
    ///
    /// # Panics
    /// As [`acquire`](Self::acquire); and if they are more than [`MAX_PERMITS`](Self::MAX_PERMITS), which no semaphore has.
    #[doc(alias("acquire_many_blocking", "blocking_acquire_many"))]
    #[inline]
    #[track_caller]
    pub fn acquire_many(&self, permits: usize) -> Result<SemaphorePermit<'_>, Closed> {
        self.block(move || permits, || "acquire_many_async")
            .map(|hold| SemaphorePermit::new(self, permits, hold))
    }

    /// Acquires a permit if that can be done at once. Never waits.
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
    /// [`NoPermits`](TryAcquireError::NoPermits) if none is free, or the free ones are reserved for the head waiter;
    /// [`Closed`](TryAcquireError::Closed), whatever there is.
    #[doc(alias("try_wait", "sem_trywait"))]
    #[inline]
    #[track_caller]
    pub fn try_acquire(&self) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.take(1).map(|hold| SemaphorePermit::new(self, 1, hold))
    }

    /// As [`try_acquire`](Self::try_acquire), for so many permits, all or none.
    ///
    /// # Errors
    /// As [`try_acquire`](Self::try_acquire).
    #[inline]
    #[track_caller]
    pub fn try_acquire_many(&self, permits: usize) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.take(permits).map(|hold| SemaphorePermit::new(self, permits, hold))
    }

    /// As [`acquire`](Self::acquire), for `timeout` at the longest.
    ///
    /// A timeout that goes beyond what [`Instant`] can hold waits without an end.
    ///
    /// ```
    /// use std::time::Duration;
    /// use waitword::{AcquireError, Semaphore};
    ///
    /// let semaphore = Semaphore::new(1);
    /// let permit = semaphore.acquire_for(Duration::ZERO).unwrap();
    /// let late = semaphore.acquire_for(Duration::from_millis(1));
    /// assert_eq!(late.unwrap_err(), AcquireError::TIMED_OUT);
    /// # drop(permit);
    /// ```
    ///
    /// # Errors
    /// As [`acquire_until`](Self::acquire_until).
    #[doc(alias("try_acquire_for", "acquire_timeout", "sem_timedwait"))]
    #[inline]
    #[track_caller]
    pub fn acquire_for(&self, timeout: Duration) -> Result<SemaphorePermit<'_>, AcquireError> {
        self.acquire_many_for(1, timeout)
    }

    /// As [`acquire_many`](Self::acquire_many), for `timeout` at the longest.
    ///
    /// # Errors
    /// As [`acquire_until`](Self::acquire_until).
    ///
    /// # Panics
    /// If they are more than [`MAX_PERMITS`](Self::MAX_PERMITS).
    #[inline]
    #[track_caller]
    pub fn acquire_many_for(
        &self,
        permits: usize,
        timeout: Duration,
    ) -> Result<SemaphorePermit<'_>, AcquireError> {
        let hold = self.block_until(permits, || Instant::now().checked_add(timeout))?;
        Ok(SemaphorePermit::new(self, permits, hold))
    }

    /// As [`acquire`](Self::acquire), until `deadline` at the latest. A permit that is there is acquired also after it.
    ///
    /// # Errors
    /// [`TimedOut`](AcquireError::TimedOut), never before the deadline;
    /// [`BlockingForbidden`](AcquireError::BlockingForbidden) at once, if it would have to wait on a thread that must not;
    /// [`Closed`](AcquireError::Closed), whatever there is.
    #[doc(alias("try_acquire_until", "acquire_deadline"))]
    #[inline]
    #[track_caller]
    pub fn acquire_until(&self, deadline: Instant) -> Result<SemaphorePermit<'_>, AcquireError> {
        self.acquire_many_until(1, deadline)
    }

    /// As [`acquire_many`](Self::acquire_many), until `deadline` at the latest.
    ///
    /// # Errors
    /// As [`acquire_until`](Self::acquire_until).
    ///
    /// # Panics
    /// If they are more than [`MAX_PERMITS`](Self::MAX_PERMITS).
    #[inline]
    #[track_caller]
    pub fn acquire_many_until(
        &self,
        permits: usize,
        deadline: Instant,
    ) -> Result<SemaphorePermit<'_>, AcquireError> {
        let hold = self.block_until(permits, || Some(deadline))?;
        Ok(SemaphorePermit::new(self, permits, hold))
    }

    /// The blocking half of the grid. `instead` is for threads that must not block.
    #[inline]
    #[track_caller]
    pub(super) fn block(
        &self,
        permits: impl Fn() -> usize + Copy,
        instead: impl Fn() -> &'static str + Copy,
    ) -> Result<HoldId, Closed> {
        acquire::acquire(self, permits, instead)
    }

    /// The clock is not read if there is no need to wait.
    #[inline]
    #[track_caller]
    pub(super) fn block_until(
        &self,
        permits: usize,
        deadline: impl FnOnce() -> Option<Instant>,
    ) -> Result<HoldId, AcquireError> {
        match acquire::take::<{ acquire::TIMED }, _>(&self.raw, move || permits) {
            Some(hold) => Ok(hold),
            None => self.block_until_slow(permits, deadline()),
        }
    }

    #[cold]
    #[track_caller]
    fn block_until_slow(&self, permits: usize, deadline: Option<Instant>) -> Result<HoldId, AcquireError> {
        if self.is_closed() {
            return Err(AcquireError::Closed);
        }
        Ok(acquire::block_until(&self.raw, asked(permits), deadline)??)
    }

    #[inline]
    #[track_caller]
    pub(super) fn take(&self, permits: usize) -> Result<HoldId, TryAcquireError> {
        if let Some(hold) = acquire::try_take(&self.raw, permits) {
            Ok(hold)
        } else if self.is_closed() {
            Err(TryAcquireError::Closed)
        } else {
            Err(TryAcquireError::NoPermits)
        }
    }
}
