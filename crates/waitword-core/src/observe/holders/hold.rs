//! What is recorded of a hold, and what its guard keeps of the record.

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Hold {
    /// A `Mutex`.
    Mutex,
    /// Shared access to an `RwLock`.
    Read,
    /// An upgradable read of an `RwLock`.
    UpgradableRead,
    /// Exclusive access to an `RwLock`.
    Write,
    /// Permits of a `Semaphore`.
    Permits,
    /// The turn to initialise a `OnceLock`.
    Initialiser,
    /// An `AsyncLock`.
    AsyncLock,
}

#[cfg(all(feature = "observe", not(any(waitword_loom, waitword_shuttle))))]
impl Hold {
    const ALL: [Self; 7] = [
        Self::Mutex,
        Self::Read,
        Self::UpgradableRead,
        Self::Write,
        Self::Permits,
        Self::Initialiser,
        Self::AsyncLock,
    ];

    /// The one with this number.
    pub(super) fn from_number(number: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|hold| *hold as u64 == number)
    }
}

/// What a guard keeps of its record: the place of it in the table. Empty without the feature `observe`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HoldId(#[cfg(all(feature = "observe", not(any(waitword_loom, waitword_shuttle))))] pub(super) u32);

impl HoldId {
    /// Of an acquisition without a record.
    pub const NONE: Self = Self(
        #[cfg(all(feature = "observe", not(any(waitword_loom, waitword_shuttle))))]
        0,
    );

    /// Of a guard that cannot keep it: the release looks for the record.
    pub const UNKNOWN: Self = Self(
        #[cfg(all(feature = "observe", not(any(waitword_loom, waitword_shuttle))))]
        u32::MAX,
    );

    /// Of a guard that keeps the place of its record.
    #[cfg(all(feature = "observe", not(any(waitword_loom, waitword_shuttle))))]
    pub(super) const KEPT: u32 = 1 << 31;
}
