//! The errors of the locks.

use std::error::Error;
use std::fmt;

use waitword_core::observe::WaitsFor;

pub use crate::holders::HeldBy;
use crate::holders::{last_held_by, note_timed_out};

/// The error of a wait that failed: for a lock, a wakeup or a value.
///
/// The enum is exhaustive: a `match` needs no wildcard arm.
///
/// ```
/// use std::time::Duration;
/// use waitword::{LockError, Mutex};
///
/// let mutex = Mutex::new(1);
/// let guard = mutex.lock();
/// let late = mutex.lock_for(Duration::from_millis(1)).map(drop);
/// assert_eq!(late, Err(LockError::TimedOut));
/// let why = match late {
///     Err(LockError::TimedOut) => "late",
///     Err(LockError::BlockingForbidden) => "not in a task",
///     Ok(()) => "in time",
/// };
/// assert_eq!(why, "late");
/// # drop(guard);
/// ```
#[doc(alias("TryLockError", "WaitTimeoutResult", "Elapsed", "Timeout"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LockError {
    /// The deadline passed before the wait succeeded. With the feature `observe`, [`held_by`](Self::held_by) returns who held the lock then.
    TimedOut,
    /// The call would have had to wait, and this thread must not block ([`forbid_blocking`](crate::forbid_blocking)). It returned without
    /// waiting. Futures never return this error.
    BlockingForbidden,
}

/// A wait for this lock, which is recorded under the address `word`, has timed out.
pub(crate) fn timed_out(word: usize, waits_for: WaitsFor) -> LockError {
    note_timed_out(Some((word, waits_for)));
    LockError::TimedOut
}

/// A wait for what has no holder has timed out.
pub(crate) fn timed_out_alone() -> LockError {
    note_timed_out(None);
    LockError::TimedOut
}

impl LockError {
    /// Returns the holder of the lock at the deadline, if it is known.
    ///
    /// Call this on the thread that received the error, before that thread waits again; in a task, before the next `.await`. The error
    /// itself contains no holder: each thread remembers the holder at its last wait that timed out.
    ///
    /// Returns `None`
    /// - without the feature `observe`;
    /// - if holders were not recorded when the lock was acquired (`waitword_observe::enable`), or the record was full;
    /// - if the lock was released at the deadline;
    /// - if nothing was held: in a wait for a notify, or a read behind a queued writer;
    /// - if the error is not a timeout.
    ///
    /// ```ignore
    /// use std::time::Duration;
    /// use waitword::Mutex;
    ///
    /// waitword_observe::enable();
    /// let mutex = Mutex::new(1);
    /// let guard = mutex.lock();
    /// if let Err(late) = mutex.lock_for(Duration::from_millis(1)) {
    ///     let holder = late.held_by().unwrap();
    ///     assert_eq!(holder.site().unwrap().file(), file!());
    ///     println!("{late}: {holder}"); // timed out: held 0.00 s by thread "main", taken at src/main.rs:6
    /// }
    /// # drop(guard);
    /// ```
    pub fn held_by(&self) -> Option<HeldBy> {
        match self {
            Self::TimedOut => last_held_by(),
            Self::BlockingForbidden => None,
        }
    }
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

pub(crate) use says;

/// What [`LockError::TimedOut`] says, and that of permits.
pub(crate) const TIMED_OUT: &str = "timed out";

/// What [`LockError::BlockingForbidden`] says, and that of permits.
pub(crate) const BLOCKING_FORBIDDEN: &str = "would block, and blocking is forbidden on this thread (`forbid_blocking`): \
     await the `_async` method, or allow blocking here (`allow_blocking`)";

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TimedOut => TIMED_OUT,
            Self::BlockingForbidden => BLOCKING_FORBIDDEN,
        })
    }
}

impl Error for LockError {}

/// A thread that must not block would have to.
#[cold]
#[track_caller]
pub(crate) fn would_block(instead: &str) -> ! {
    panic!(
        "would block, and blocking is forbidden on this thread (`forbid_blocking`): use `{instead}`. \
         Where nothing can be awaited, as in a destructor, use a `try_` method, another thread, or `allow_blocking`"
    )
}

/// The error of an `unlock` of a lock that is not held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NotLocked;

says!(NotLocked: "unlock of a lock that is not held");
