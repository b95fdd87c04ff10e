//! How reports learn that a lock is gone, of locks that cannot have a destructor.
//!
//! Another lock may be made in its place, and what was recorded of the first is no news of that one. A destructor of the lock itself would
//! forbid what `OnceLock<&T>` and `AsyncLock<&AtomicI32>` allow: to be dropped after what they borrow. This one has no parameters, so the
//! compiler knows that it reads nothing of the lock.

/// Lies where the word of a lock lies, and goes with it.
pub(crate) struct Gone;

#[cfg(feature = "observe")]
impl Drop for Gone {
    fn drop(&mut self) {
        waitword_core::observe::holders::dropped(std::ptr::from_ref(self).addr(), true);
    }
}
