//! What is done after a stay under a shard's lock: other buckets, and the watchdog.

use super::watchdog;
use crate::shard::{Locked, Unlocked};

/// What a stay under the lock has left to do, done when it is dropped. Does not unwind.
#[must_use = "dropped at once, it comes before the wake, which is more urgent"]
pub(crate) struct FollowUp<'a>(Unlocked<'a>);

/// Unlocks the shard. What is left to do is done when the result is dropped.
#[inline]
pub(crate) fn unlock(locked: Locked<'_>) -> FollowUp<'_> {
    FollowUp(locked.unlock())
}

/// Unlocks the shard, and does what is left to do.
#[inline]
pub(crate) fn release(locked: Locked<'_>) {
    drop(unlock(locked));
}

impl Drop for FollowUp<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(size) = self.0.better_size {
            self.0.shard.resize(size);
        }
        if self.0.watch || watchdog::is_wanted() {
            watchdog::start();
        }
    }
}
