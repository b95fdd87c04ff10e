//! What can go wrong with a lock.

use std::error::Error;
use std::fmt;

/// A wait failed: for a lock, a wakeup, a value.
#[doc(alias("TryLockError", "WaitTimeoutResult", "Elapsed", "Timeout"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LockError {
    /// The time was up.
    TimedOut,
    /// It would have had to wait, and this thread must not block
    /// ([`forbid_blocking`](crate::forbid_blocking)). Nothing was waited for. The methods that are futures do not return
    /// this.
    BlockingForbidden,
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TimedOut => "the time was up before it could be had: try again, or allow more time",
            Self::BlockingForbidden => {
                "it could not be had without waiting, and this thread must not block (`forbid_blocking`): \
                 use the method whose name has `_async` in it"
            }
        })
    }
}

impl Error for LockError {}

/// The lock to be released was not held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NotLocked;

impl fmt::Display for NotLocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the lock was not held: call `unlock` once for each time that the lock was taken")
    }
}

impl Error for NotLocked {}
