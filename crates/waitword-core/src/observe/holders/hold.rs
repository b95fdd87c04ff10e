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

/// A record that a guard keeps.
#[cfg(all(feature = "observe", not(any(waitword_loom, waitword_shuttle))))]
#[derive(Clone, Copy, Debug)]
pub struct Recorded(pub(super) &'static super::record::Record);

/// There are no records.
#[cfg(not(all(feature = "observe", not(any(waitword_loom, waitword_shuttle)))))]
#[derive(Clone, Copy, Debug)]
pub struct Recorded;

/// What a guard keeps: its record, if it has one. Empty without the feature `observe`.
#[derive(Clone, Copy, Debug, Default)]
pub struct HoldId(
    #[cfg(all(feature = "observe", not(any(waitword_loom, waitword_shuttle))))] pub(super) Option<Recorded>,
);

impl HoldId {
    /// Of an acquisition without a record.
    pub const NONE: Self = Self(
        #[cfg(all(feature = "observe", not(any(waitword_loom, waitword_shuttle))))]
        None,
    );
}

impl From<Recorded> for HoldId {
    #[cfg(all(feature = "observe", not(any(waitword_loom, waitword_shuttle))))]
    #[inline(always)]
    fn from(recorded: Recorded) -> Self {
        Self(Some(recorded))
    }

    #[cfg(not(all(feature = "observe", not(any(waitword_loom, waitword_shuttle)))))]
    fn from(_recorded: Recorded) -> Self {
        Self()
    }
}
