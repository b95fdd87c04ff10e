//! Why there is no permit.

use std::error::Error;
use std::fmt;

use crate::acquire::grid::Tried;
use crate::deadline::Output;
use crate::error::{LockError, equal_by_reason, says};
use crate::holders::HeldBy;
use crate::raw_semaphore::RawSemaphore;

pub use crate::raw_semaphore::Closed;

/// Why a timed acquire has acquired nothing.
///
/// Two errors are equal if their reasons are, as with [`LockError`]. The reasons are complete: a `match` needs no arm for others.
///
/// ```
/// use waitword::{AcquireError, Semaphore};
///
/// let semaphore = Semaphore::new(1);
/// semaphore.close();
/// let why = semaphore.acquire_for(std::time::Duration::MAX).map(drop).map_err(|error| match error {
///     AcquireError::TimedOut(_) => "late",
///     AcquireError::BlockingForbidden => "not in a task",
///     AcquireError::Closed => "closed",
/// });
/// assert_eq!(why, Err("closed"));
/// ```
#[derive(Clone, Copy, Debug)]
pub enum AcquireError {
    /// The time was up, and there were still too few. It says who had held permits longest, if that is known
    /// ([`LockError::held_by`]).
    TimedOut(HeldBy),
    /// There are too few, and this thread must not block ([`forbid_blocking`](crate::forbid_blocking)). Nothing was waited
    /// for. The methods that are futures do not return this.
    BlockingForbidden,
    /// See [`Closed`].
    Closed,
}

impl AcquireError {
    /// The time was up, and no holder of permits is known.
    pub const TIMED_OUT: Self = Self::TimedOut(HeldBy::NONE);

    /// Who had held permits longest when the time was up. `None` if no holder is known, as with [`LockError::held_by`].
    pub fn held_by(&self) -> Option<HeldBy> {
        match self {
            Self::TimedOut(held_by) => Some(*held_by).filter(HeldBy::is_known),
            Self::BlockingForbidden | Self::Closed => None,
        }
    }
}

equal_by_reason!(AcquireError);

/// Why the permits could not be acquired at once. The reasons are complete: a `match` needs no arm for others.
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
    /// There are too few, or they are reserved for the queued waiters.
    NoPermits,
    /// See [`Closed`].
    Closed,
}

const CLOSED: &str = "the semaphore was closed: nobody gets a permit any more";

says!(Closed: CLOSED);

impl fmt::Display for AcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TimedOut(held_by) if held_by.is_known() => {
                return write!(f, "the time was up, and there were still too few permits: {held_by}");
            }
            Self::TimedOut(_) => "the time was up, and there were still too few permits",
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
            LockError::TimedOut(by) => Self::TimedOut(by),
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
