//! What can go wrong with a lock.

use std::error::Error;
use std::fmt;

use waitword_core::observe::WaitsFor;

pub use crate::holders::HeldBy;
use crate::holders::{last_held_by, note_timed_out};

/// A wait failed: for a lock, a wakeup, a value. The reasons are complete: a `match` needs no arm for others.
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
    /// The wait reached its deadline. With the feature `observe`, [`held_by`](Self::held_by) says who held the lock then.
    TimedOut,
    /// It would have had to wait, and this thread must not block
    /// ([`forbid_blocking`](crate::forbid_blocking)). Nothing was waited for. Futures do not return this.
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
    /// Who held the lock at the deadline. Ask on the thread that got the error, before its next wait: the error itself carries nothing, and
    /// each thread remembers the holder of its last wait that timed out. A task asks before its next `.await`.
    ///
    /// `None` without the feature `observe`, and if no holder is known: holders are not recorded (`waitword_observe::enable`), or the
    /// lock was taken before they were, the record was full, the lock was released just then, nothing was held (a wait for a notify, a
    /// read behind a queued writer), or this is no timeout.
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
     await the `_async` method there, or allow it (`allow_blocking`)";

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
        "would block, and blocking is forbidden on this thread (`forbid_blocking`): use `{instead}`; \
         where nothing can be awaited, as in a destructor, a method with `try_`, a thread of its own, or `allow_blocking`"
    )
}

/// The lock to be released was not held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NotLocked;

says!(NotLocked: "unlock of a lock that is not held");
