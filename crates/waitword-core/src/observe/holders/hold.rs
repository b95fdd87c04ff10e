//! How a lock is held.

/// A kind of hold.
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
