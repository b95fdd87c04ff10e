//! How reports learn that a lock is gone, of locks that cannot have a destructor.
//!
//! Another lock may be made at the same address, and must not inherit what was recorded of the first. A destructor of the lock itself would
//! forbid what `OnceLock<&T>` and `AsyncLock<&AtomicI32>` allow: to be dropped after what they borrow. `Gone` has no parameters, so the
//! compiler knows that its destructor reads nothing of the lock.

/// A field at the address of the lock's word. Its drop tells reports that the lock is gone.
pub(crate) struct Gone;

#[cfg(feature = "observe")]
impl Drop for Gone {
    fn drop(&mut self) {
        waitword_core::observe::holders::dropped(std::ptr::from_ref(self).addr(), true);
    }
}
