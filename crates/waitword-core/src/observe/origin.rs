//! The call site of a wait, and what it waits for.

use std::panic::Location;
use std::ptr::{from_ref, with_exposed_provenance};

/// What a waiter waits for: which of the locks enqueued it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WaitsFor {
    /// A notify on a word of memory.
    Word,
    /// A `Mutex`.
    Mutex,
    /// Shared access to an `RwLock`.
    Read,
    /// Exclusive access to an `RwLock`.
    Write,
    /// An upgradable read of an `RwLock`.
    UpgradableRead,
    /// The upgrade of an upgradable read: the other readers have to leave.
    Upgrade,
    /// Permits of a `Semaphore`.
    Semaphore,
    /// A notify of a `Condvar`. Once notified, its waiter waits for the [`Mutex`](Self::Mutex) that goes with it.
    Condvar,
    /// An `Event`.
    Event,
    /// A `WaitGroup`.
    WaitGroup,
    /// A `Barrier`.
    Barrier,
    /// The value of a `OnceLock`.
    OnceLock,
    /// An `AsyncLock`.
    AsyncLock,
}

impl WaitsFor {
    /// In the order of their numbers.
    pub const ALL: [Self; 13] = [
        Self::Word,
        Self::Mutex,
        Self::Read,
        Self::Write,
        Self::UpgradableRead,
        Self::Upgrade,
        Self::Semaphore,
        Self::Condvar,
        Self::Event,
        Self::WaitGroup,
        Self::Barrier,
        Self::OnceLock,
        Self::AsyncLock,
    ];

    /// The inverse of [`bits`](Self::bits).
    pub(crate) fn from_bits(bits: u64) -> Self {
        Self::ALL.get(bits as usize).copied().unwrap_or(Self::Word)
    }

    /// Its number, in four bits.
    #[inline(always)]
    pub(crate) fn bits(self) -> u64 {
        const { assert!(Self::ALL.len() <= 16) };
        self as u64
    }

    /// Returns whether the waiter waits for a holder, not for a notify.
    pub fn is_for_holder(self) -> bool {
        use WaitsFor::{AsyncLock, Mutex, OnceLock, Read, Semaphore, UpgradableRead, Upgrade, Write};
        matches!(self, Mutex | Read | Write | UpgradableRead | Upgrade | Semaphore | OnceLock | AsyncLock)
    }
}

/// The caller of a method that waits.
#[derive(Clone, Copy, Debug)]
pub struct Caller {
    // `None`: too far away for a [`PackedSite`].
    site: Option<&'static Site>,
}

impl Caller {
    /// Returns the caller of the function that calls this, if that function is `#[track_caller]`.
    #[track_caller]
    #[inline(always)]
    pub fn here() -> Self {
        Self { site: Some(Location::caller()) }
    }

    /// Returns the caller's location, or that of a constant of this crate if the caller's was too far away to be stored ([`PackedSite`]).
    #[inline(always)]
    pub fn site(self) -> &'static Site {
        const UNKNOWN: &Site = Location::caller();
        self.site.unwrap_or(UNKNOWN)
    }

    /// The caller whose place in the source is `site`.
    pub(crate) fn at(site: Option<&'static Site>) -> Self {
        Self { site }
    }
}

/// Where a wait comes from: its caller, and what it waits for.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    caller: Caller,
    waits_for: WaitsFor,
    is_timed: bool,
    releases: bool,
}

impl Origin {
    /// Creates the origin of a wait by `caller`.
    #[inline(always)]
    pub fn new(caller: Caller, waits_for: WaitsFor) -> Self {
        Self { caller, waits_for, is_timed: false, releases: false }
    }

    /// Returns the origin of the same wait, with a deadline if `is_timed`.
    #[inline(always)]
    pub fn timed(self, is_timed: bool) -> Self {
        Self { is_timed, ..self }
    }

    /// Returns the origin of the same wait, by a waiter that holds a lock when it enqueues and releases it before it sleeps.
    ///
    /// Snapshots omit the waiter until [`WaitAsync::released`](crate::WaitAsync::released) is called, because until then it runs and does
    /// not wait.
    #[inline(always)]
    pub fn before_release(self) -> Self {
        Self { releases: true, ..self }
    }

    /// Creates the origin of a wait by the caller of the function that calls this.
    #[track_caller]
    #[inline(always)]
    pub fn here(waits_for: WaitsFor) -> Self {
        Self::new(Caller::here(), waits_for)
    }

    #[inline(always)]
    pub(crate) fn site(self) -> Option<&'static Site> {
        self.caller.site
    }

    #[inline(always)]
    pub(crate) fn is_timed(self) -> bool {
        self.is_timed
    }

    #[inline(always)]
    pub(crate) fn waits_for(self) -> WaitsFor {
        self.waits_for
    }

    /// Whether the waiter holds a lock when it enqueues, and releases it before it sleeps.
    #[inline(always)]
    pub(crate) fn releases(self) -> bool {
        self.releases
    }
}

/// A place in the source.
pub type Site = Location<'static>;

/// A source location or none, in 32 bits, so that a node with one still fits into a cache line.
///
/// A linker puts the locations of one binary near each other: the distance from a `static` of this crate fits. A location that is farther
/// away, of a library loaded at run time, is not stored, and snapshots show the wait without it.
///
/// Invariant S1: a distance other than 0 leads to a `Site` whose provenance was exposed; [`PackedSite::new`] alone makes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PackedSite(i32);

/// The origin of distances. No location is here, so 0 can mean "none".
static BEGINNING: u8 = 0;

impl PackedSite {
    /// None.
    pub const NONE: Self = Self(0);

    /// Packs `site`, unless it is too far away.
    #[inline]
    pub fn new(site: Option<&'static Site>) -> Self {
        let distance =
            |site| from_ref::<Site>(site).expose_provenance().wrapping_sub(beginning()).cast_signed();
        Self(site.and_then(|site| i32::try_from(distance(site)).ok()).unwrap_or(0))
    }

    /// Returns the location, if there is one.
    pub fn get(self) -> Option<&'static Site> {
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
    fn what_is_waited_for_is_read_from_its_bits() {
        for waits_for in WaitsFor::ALL {
            assert_eq!(WaitsFor::from_bits(waits_for.bits()), waits_for);
        }
    }

    #[test]
    fn a_site_is_found_again_unless_it_is_too_far_away() {
        let here = Location::caller();
        let packed = PackedSite::new(Some(here));
        // Miri may place it anywhere.
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
