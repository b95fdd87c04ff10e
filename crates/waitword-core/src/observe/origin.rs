//! Where waits come from.

use std::panic::Location;

use super::site::Site;

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
    /// By their numbers.
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

    /// What [`bits`](Self::bits) was made of.
    pub(crate) fn from_bits(bits: u64) -> Self {
        Self::ALL.get(bits as usize).copied().unwrap_or(Self::Word)
    }

    /// In four bits.
    #[inline(always)]
    pub(crate) fn bits(self) -> u64 {
        const { assert!(Self::ALL.len() <= 16) };
        self as u64
    }

    /// Whether a holder makes it wait, and not the want of a notify.
    pub fn is_for_holder(self) -> bool {
        use WaitsFor::{AsyncLock, Mutex, OnceLock, Read, Semaphore, UpgradableRead, Upgrade, Write};
        matches!(self, Mutex | Read | Write | UpgradableRead | Upgrade | Semaphore | OnceLock | AsyncLock)
    }
}

/// The caller of a method that waits.
#[derive(Clone, Copy, Debug)]
pub struct Caller {
    // `None`: too far away to be kept in a waiter.
    site: Option<&'static Site>,
}

impl Caller {
    /// The caller of the function that calls this, if that is `#[track_caller]`.
    #[track_caller]
    #[inline(always)]
    pub fn here() -> Self {
        Self { site: Some(Location::caller()) }
    }

    /// Where it is; or here, of a caller that was too far away.
    #[inline(always)]
    pub(in crate::observe) fn site(self) -> &'static Site {
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
    /// A wait of `caller`.
    #[inline(always)]
    pub fn new(caller: Caller, waits_for: WaitsFor) -> Self {
        Self { caller, waits_for, is_timed: false, releases: false }
    }

    /// The same, of a wait that ends at a deadline, if `is_timed`.
    #[inline(always)]
    pub fn timed(self, is_timed: bool) -> Self {
        Self { is_timed, ..self }
    }

    /// The same, of a waiter that holds a lock when it enqueues, and releases it before it sleeps. Snapshots leave it out until
    /// [`WaitAsync::released`](crate::WaitAsync::released) is called: it runs, and does not wait for that lock.
    #[inline(always)]
    pub fn before_release(self) -> Self {
        Self { releases: true, ..self }
    }

    /// A wait of the caller of the function that calls this.
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

    /// Whether it holds a lock when it enqueues, and releases it before it sleeps.
    #[inline(always)]
    pub(crate) fn releases(self) -> bool {
        self.releases
    }
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
}
