//! What can go wrong with a lock.

use std::error::Error;
use std::fmt;

pub use crate::holders::HeldBy;

/// A wait failed: for a lock, a wakeup, a value. The reasons are complete: a `match` needs no arm for others.
///
/// Two errors are equal if their reasons are: who held the lock is not compared. [`TIMED_OUT`](Self::TIMED_OUT) is there to compare with.
///
/// ```
/// use std::time::Duration;
/// use waitword::{LockError, Mutex};
///
/// let mutex = Mutex::new(1);
/// let guard = mutex.lock();
/// let late = mutex.lock_for(Duration::from_millis(1)).map(drop);
/// assert_eq!(late, Err(LockError::TIMED_OUT));
/// let why = late.map_err(|error| match error {
///     LockError::TimedOut(_) => "late",
///     LockError::BlockingForbidden => "not in a task",
/// });
/// assert_eq!(why, Err("late"));
/// # drop(guard);
/// ```
#[doc(alias("TryLockError", "WaitTimeoutResult", "Elapsed", "Timeout"))]
#[derive(Clone, Copy, Debug)]
pub enum LockError {
    /// The time was up. For a lock, this says who held it then, if that is known: with the feature `observe`, while holders are recorded
    /// (`waitword_observe::enable`).
    TimedOut(HeldBy),
    /// It would have had to wait, and this thread must not block
    /// ([`forbid_blocking`](crate::forbid_blocking)). Nothing was waited for. The methods that are futures do not return
    /// this.
    BlockingForbidden,
}

impl LockError {
    /// The time was up, and no holder is known.
    pub const TIMED_OUT: Self = Self::TimedOut(HeldBy::NONE);

    /// Who held the lock when the time was up. `None` if no holder is known: holders are not recorded (`waitword_observe::enable`), or the
    /// lock was taken before they were, the record had no room, it was released just then, nothing was held (a wait for a notify, a read
    /// behind a writer that is queued), or the time was not up.
    ///
    /// ```ignore
    /// use std::time::Duration;
    /// use waitword::Mutex;
    ///
    /// waitword_observe::enable();
    /// let mutex = Mutex::new(1);
    /// let guard = mutex.lock();
    /// let late = mutex.lock_for(Duration::from_millis(1)).map(drop).unwrap_err();
    /// assert_eq!(late.held_by().unwrap().site().unwrap().file(), file!());
    /// println!("{late}"); // the time was up: held 0.00 s by thread "main", taken at src/main.rs:6
    /// # drop(guard);
    /// ```
    pub fn held_by(&self) -> Option<HeldBy> {
        match self {
            Self::TimedOut(held_by) => Some(*held_by).filter(HeldBy::is_known),
            Self::BlockingForbidden => None,
        }
    }
}

/// Equality by the reason alone.
macro_rules! equal_by_reason {
    ($Error:ty) => {
        /// By the reason alone.
        impl PartialEq for $Error {
            fn eq(&self, other: &Self) -> bool {
                std::mem::discriminant(self) == std::mem::discriminant(other)
            }
        }

        impl Eq for $Error {}

        impl std::hash::Hash for $Error {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                std::mem::discriminant(self).hash(state);
            }
        }
    };
}

/// An error with one message.
macro_rules! says {
    ($Error:ty: $message:expr) => {
        impl std::fmt::Display for $Error {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str($message)
            }
        }

        impl std::error::Error for $Error {}
    };
}

pub(crate) use {equal_by_reason, says};

equal_by_reason!(LockError);

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TimedOut(held_by) if held_by.is_known() => {
                return write!(f, "the time was up: {held_by}");
            }
            Self::TimedOut(_) => "the time was up before it could be had: try again, or allow more time",
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

says!(NotLocked: "the lock was not held: call `unlock` once for each time that the lock was taken");
