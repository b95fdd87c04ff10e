//! A site in an atomic.
//!
//! - **L1** What is stored is null or a `&'static Site`, so what is loaded may be read at any time.

use std::ptr;

use super::site::Site;
use crate::sync::atomic::{AtomicPtr, Ordering};

/// A place in the source, or none. Its value orders nothing.
#[derive(Debug)]
pub(super) struct AtomicSite(AtomicPtr<Site>);

impl AtomicSite {
    pub(super) fn none() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    #[inline]
    pub(super) fn store(&self, site: Option<&'static Site>) {
        self.0.store(pointer(site), Ordering::Relaxed);
    }

    #[inline]
    pub(super) fn load(&self) -> Option<&'static Site> {
        // SAFETY: null or a `&'static` (L1).
        unsafe { self.0.load(Ordering::Relaxed).as_ref() }
    }

    /// Stores `site` if there is none yet. Returns which one is there then.
    #[inline]
    pub(super) fn claim(&self, site: &'static Site) -> &'static Site {
        let claimed = self.0.compare_exchange(
            ptr::null_mut(),
            pointer(Some(site)),
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
        match claimed {
            Ok(_) => site,
            // SAFETY: null or a `&'static` (L1).
            Err(other) => unsafe { other.as_ref() }.unwrap_or(site),
        }
    }
}

fn pointer(site: Option<&'static Site>) -> *mut Site {
    site.map_or(ptr::null_mut(), |site| ptr::from_ref(site).cast_mut())
}
