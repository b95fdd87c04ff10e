//! The errors of the semaphore.

use std::error::Error;
use std::fmt;

use crate::acquire::grid::Tried;
use crate::deadline::Output;
use crate::error::{BLOCKING_FORBIDDEN, HeldBy, LockError, TIMED_OUT, says};
use crate::raw_semaphore::RawSemaphore;

pub use crate::raw_semaphore::Closed;

/// The error of an acquire with a deadline.
///
/// The enum is exhaustive: a `match` needs no wildcard arm.
///
/// ```
/// use waitword::{AcquireError, Semaphore};
///
/// let semaphore = Semaphore::new(1);
/// semaphore.close();
/// let why = semaphore.acquire_for(std::time::Duration::MAX).map(drop).map_err(|error| match error {
///     AcquireError::TimedOut => "late",
///     AcquireError::BlockingForbidden => "not in a task",
///     AcquireError::Closed => "closed",
/// });
/// assert_eq!(why, Err("closed"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AcquireError {
    /// The deadline passed before enough permits were available. With the feature `observe`, [`held_by`](Self::held_by) returns who had held
    /// permits longest.
    TimedOut,
    /// Too few permits were available, and this thread must not block ([`forbid_blocking`](crate::forbid_blocking)). The call returned
    /// without waiting. Futures never return this error.
    BlockingForbidden,
    /// The semaphore was closed: see [`Closed`].
    Closed,
}

impl AcquireError {
    /// Returns who had held permits longest at the deadline, if it is known. When to call this, and when it returns `None`: see
    /// [`LockError::held_by`].
    pub fn held_by(&self) -> Option<HeldBy> {
        match self {
            Self::TimedOut => LockError::TimedOut.held_by(),
            Self::BlockingForbidden | Self::Closed => None,
        }
    }
}

/// The error of an attempt to acquire permits without waiting.
///
/// The enum is exhaustive: a `match` needs no wildcard arm.
///
/// ```
/// use waitword::{Semaphore, TryAcquireError};
///
/// let why = Semaphore::new(0).try_acquire().map(drop).map_err(|error| match error {
///     TryAcquireError::NoPermits => "too few",
///     TryAcquireError::Closed => "closed",
/// });
/// assert_eq!(why, Err("too few"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TryAcquireError {
    /// Too few permits are available, or those that are available are reserved for queued waiters.
    NoPermits,
    /// The semaphore was closed: see [`Closed`].
    Closed,
}

const CLOSED: &str = "closed";

says!(Closed: CLOSED);

impl fmt::Display for AcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TimedOut => TIMED_OUT,
            Self::BlockingForbidden => BLOCKING_FORBIDDEN,
            Self::Closed => CLOSED,
        })
    }
}

impl fmt::Display for TryAcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoPermits => "no permits available",
            Self::Closed => CLOSED,
        })
    }
}

impl Error for AcquireError {}

impl Error for TryAcquireError {}

impl From<Closed> for AcquireError {
    fn from(Closed: Closed) -> Self {
        Self::Closed
    }
}

impl From<Closed> for TryAcquireError {
    fn from(Closed: Closed) -> Self {
        Self::Closed
    }
}

impl From<LockError> for AcquireError {
    fn from(error: LockError) -> Self {
        match error {
            LockError::TimedOut => Self::TimedOut,
            LockError::BlockingForbidden => Self::BlockingForbidden,
        }
    }
}

impl<T> Output<Result<T, Closed>> for Result<T, Closed> {
    #[inline(always)]
    fn of(acquired: Self) -> Self {
        acquired
    }
}

impl<T> Output<Result<Result<T, Closed>, LockError>> for Result<T, AcquireError> {
    #[inline(always)]
    fn of(acquired: Result<Result<T, Closed>, LockError>) -> Self {
        Ok(acquired??)
    }
}

impl<T> Tried<T, RawSemaphore> for Result<T, TryAcquireError> {
    #[inline(always)]
    fn of(acquired: Option<T>, raw: &RawSemaphore) -> Self {
        match acquired {
            Some(permits) => Ok(permits),
            None if raw.is_closed() => Err(TryAcquireError::Closed),
            None => Err(TryAcquireError::NoPermits),
        }
    }
}
