//! A `&'static Site` in an atomic.
//!
//! - **L1** The pointer is null or a `&'static Site`, stored with Release and loaded with Acquire. So the thread that loads it sees the whole
//!   site, even one that another thread made and leaked at run time, and may read it at any time.

use std::ptr;

use waitword_core::observe::Site;

use crate::sync::atomic::{AtomicPtr, Ordering};

/// A place in the source, or none.
#[derive(Debug)]
pub(crate) struct AtomicSite(AtomicPtr<Site>);

impl AtomicSite {
    #[cfg(not(waitword_loom))]
    pub(crate) const fn none() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    #[cfg(waitword_loom)]
    pub(crate) fn none() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    #[inline]
    pub(crate) fn store(&self, site: Option<&'static Site>) {
        self.0.store(pointer(site), Ordering::Release);
    }

    #[inline]
    pub(crate) fn load(&self) -> Option<&'static Site> {
        // SAFETY: null or a `&'static` (L1).
        unsafe { self.0.load(Ordering::Acquire).as_ref() }
    }

    /// Stores `site` if none is stored yet. Returns the stored one.
    pub(crate) fn claim(&self, site: &'static Site) -> &'static Site {
        let new = pointer(Some(site));
        match self.0.compare_exchange(ptr::null_mut(), new, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => site,
            // SAFETY: null or a `&'static` (L1).
            Err(other) => unsafe { other.as_ref() }.unwrap_or(site),
        }
    }
}

fn pointer(site: Option<&'static Site>) -> *mut Site {
    site.map_or(ptr::null_mut(), |site| ptr::from_ref(site).cast_mut())
}

#[cfg(all(test, not(waitword_loom)))]
mod tests {
    use std::panic::Location;

    use super::*;

    /// Miri and ThreadSanitizer see whether the accesses are ordered.
    #[test]
    fn a_site_that_was_made_at_run_time_is_whole_for_who_loads_it() {
        static STORED: AtomicSite = AtomicSite::none();
        static CLAIMED: AtomicSite = AtomicSite::none();
        let here = *Location::caller();
        let publishes = std::thread::spawn(move || {
            STORED.store(Some(Box::leak(Box::new(here))));
            CLAIMED.claim(Box::leak(Box::new(here)));
        });
        let wait_for = |site: &AtomicSite| loop {
            match site.load() {
                Some(site) => break *site,
                None => std::thread::yield_now(),
            }
        };
        assert_eq!([wait_for(&STORED), wait_for(&CLAIMED)], [here; 2]);
        publishes.join().unwrap();
    }
}
