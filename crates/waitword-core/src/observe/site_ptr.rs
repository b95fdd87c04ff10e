//! A reference that is good for ever, in an atomic.
//!
//! - **L1** What is stored is null or a `&'static T`, so what is loaded may be read at any time.

use std::ptr;

use super::site::Site;
use crate::sync::atomic::{AtomicPtr, Ordering};

/// A place in the source, or none.
pub(super) type AtomicSite = AtomicStatic<Site>;

/// A `&'static T`, or none. Its value orders nothing.
#[derive(Debug)]
pub(super) struct AtomicStatic<T: 'static>(AtomicPtr<T>);

impl<T: Sync> AtomicStatic<T> {
    #[cfg(not(any(waitword_loom, waitword_shuttle)))]
    pub(super) const fn none() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    #[cfg(any(waitword_loom, waitword_shuttle))]
    pub(super) fn none() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    #[inline]
    pub(super) fn store(&self, value: Option<&'static T>) {
        self.0.store(pointer(value), Ordering::Relaxed);
    }

    #[inline]
    pub(super) fn load(&self) -> Option<&'static T> {
        // SAFETY: null or a `&'static` (L1).
        unsafe { self.0.load(Ordering::Relaxed).as_ref() }
    }

    /// Stores `value` if there is none yet. Returns which one is there then.
    #[inline]
    pub(super) fn claim(&self, value: &'static T) -> &'static T {
        let claimed = self.0.compare_exchange(
            ptr::null_mut(),
            pointer(Some(value)),
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
        match claimed {
            Ok(_) => value,
            // SAFETY: null or a `&'static` (L1).
            Err(other) => unsafe { other.as_ref() }.unwrap_or(value),
        }
    }
}

fn pointer<T>(value: Option<&'static T>) -> *mut T {
    value.map_or(ptr::null_mut(), |value| ptr::from_ref(value).cast_mut())
}
