//! Parts of reports as text, for tools that lay them out themselves.

use std::fmt;
use std::time::Duration;

use super::listing::of_lock;
use super::words;
use crate::model::{Actor, Lock, LockName, Snapshot};

/// As reports have it: `thread "alpha"`, `task 14`, `worker 2`.
impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&words::actor(self))
    }
}

/// As reports have it: `Mutex<Accounts> "accounts"`, `Mutex at 0x7f3a10`, `AsyncLock at block 1 +64`.
impl fmt::Display for LockName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&words::lock(self))
    }
}

impl Snapshot {
    /// What a report has of one lock of this snapshot: its holders, and its queue from the head, so many waiters at most. Lines of 100
    /// columns.
    pub fn describe(&self, lock: &Lock, waiters: usize) -> String {
        of_lock(lock, self, waiters)
    }
}

/// A duration in the unit in which its number says most, rounded down: `850 us`, `1.2 s`, `12 min`.
///
/// ```
/// use std::time::Duration;
///
/// assert_eq!(waitword_observe::short_duration(Duration::from_millis(1_290)), "1.2 s");
/// ```
pub fn short_duration(duration: Duration) -> String {
    words::duration(duration)
}
