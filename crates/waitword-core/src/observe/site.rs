//! A place in the source in 32 bits, so that a waiter has one and stays within a line of the cache.
//!
//! A linker puts the places of one binary near each other: the distance from a `static` of this crate fits. A place that is
//! farther away, of a library that was loaded at run time, is not kept, and a snapshot has the wait without it.
//!
//! Invariant S1: a distance other than 0 leads to a `Site` whose provenance was exposed; [`PackedSite::new`] alone makes them.

use std::panic::Location;
use std::ptr::{from_ref, with_exposed_provenance};

/// A place in the source.
pub type Site = Location<'static>;

/// A place in the source, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PackedSite(i32);

/// Where distances begin. No place is here, so 0 is free for "none".
static BEGINNING: u8 = 0;

impl PackedSite {
    pub(crate) const NONE: Self = Self(0);

    #[inline]
    pub(crate) fn new(site: Option<&'static Site>) -> Self {
        let distance =
            |site| from_ref::<Site>(site).expose_provenance().wrapping_sub(beginning()).cast_signed();
        Self(site.and_then(|site| i32::try_from(distance(site)).ok()).unwrap_or(0))
    }

    pub(crate) fn get(self) -> Option<&'static Site> {
        let site = with_exposed_provenance::<Site>(beginning().wrapping_add_signed(self.0 as isize));
        // SAFETY: of a `Site` that lives for ever, and is only read (S1).
        (self.0 != 0).then(|| unsafe { &*site })
    }
}

#[inline(always)]
fn beginning() -> usize {
    from_ref(&BEGINNING).addr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_found_again_unless_it_is_too_far_away() {
        let here = Location::caller();
        let packed = PackedSite::new(Some(here));
        // Where an interpreter puts it is its own choice.
        if !cfg!(miri) {
            assert_eq!(packed.get(), Some(here));
        }
        assert!(packed.get().is_none_or(|found| std::ptr::eq(found, here)));
        assert_eq!(PackedSite::new(None).get(), None);
    }

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn a_site_that_is_too_far_away_is_not_kept() {
        // The heap of a 64-bit process is not within 2 GiB of its code, or else there is nothing to test.
        let far: &'static Site = Box::leak(Box::new(*Location::caller()));
        let is_near = i32::try_from(from_ref(far).addr().wrapping_sub(beginning()).cast_signed()).is_ok();
        assert_eq!(PackedSite::new(Some(far)).get().is_some(), is_near);
    }
}
