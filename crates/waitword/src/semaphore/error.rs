//! Why there is no permit.

use std::error::Error;
use std::fmt;

use crate::error::LockError;

pub use crate::raw_semaphore::Closed;

/// The permits were not had, though one was ready to wait for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AcquireError {
    /// The time was up, and there were still too few.
    TimedOut,
    /// There are too few, and this thread must not block ([`forbid_blocking`](crate::forbid_blocking)). Nothing was waited
    /// for. The methods that are futures do not return this.
    BlockingForbidden,
    /// See [`Closed`].
    Closed,
}

/// The permits could not be had at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TryAcquireError {
    /// There are too few, or they are reserved for the queued waiters.
    NoPermits,
    /// See [`Closed`].
    Closed,
}

const CLOSED: &str = "the semaphore was closed: nobody gets a permit any more";

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(CLOSED)
    }
}

impl fmt::Display for AcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TimedOut => "the time was up, and there were still too few permits",
            Self::BlockingForbidden => {
                "there are too few permits and this thread must not block (`forbid_blocking`): \
                 use the method whose name has `_async` in it"
            }
            Self::Closed => CLOSED,
        })
    }
}

impl fmt::Display for TryAcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoPermits => {
                "there are too few permits: use a method whose name does not begin with `try_` to wait"
            }
            Self::Closed => CLOSED,
        })
    }
}

impl Error for Closed {}

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
