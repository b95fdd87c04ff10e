//! How a lock is held, what a guard keeps of its hold, and the type of a lock.

use std::any::type_name;
use std::fmt;
#[cfg(feature = "observe")]
use std::ptr::NonNull;
use std::task::Waker;

use waitword_core::observe::Site;

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

/// An acquisition by a task.
#[derive(Clone, Copy, Debug)]
pub struct AcquiredByTask<'a> {
    /// The address of the word.
    pub word: usize,
    /// How it is held.
    pub hold: Hold,
    /// The number of permits of a semaphore; 1 for other locks.
    pub permits: usize,
    /// Where it was acquired.
    pub site: &'static Site,
    /// The waker of the task.
    pub task: &'a Waker,
    /// Whether no other thread can poll the task.
    pub is_alone: bool,
    /// Whether the acquisition has a deadline or is an attempt without waiting.
    pub gives_up: bool,
}

/// A change of a hold that continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It was upgraded or downgraded.
    To(Hold),
    /// Its guard is an owned one, which can be sent elsewhere.
    Sent,
    /// Its guard was forgotten, and the hold stays.
    Forgotten,
    /// It has this number of permits now.
    Permits(usize),
    /// A part of its permits has a guard of its own.
    Split {
        /// The number of permits that stay with the first guard.
        left: usize,
        /// The number of permits of the other guard, whose [`HoldId`] is returned.
        permits: usize,
    },
}

/// The observer's name for a hold, which the guard stores if the observer was told of the hold. Empty without the feature `observe`.
#[derive(Clone, Copy, Debug, Default)]
pub struct HoldId(#[cfg(feature = "observe")] Option<Opaque>);

/// The observer's name for a hold.
#[cfg(feature = "observe")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Opaque(NonNull<()>);

// SAFETY: nobody here reads what it points to.
#[cfg(feature = "observe")]
unsafe impl Send for Opaque {}
// SAFETY: as for `Send`.
#[cfg(feature = "observe")]
unsafe impl Sync for Opaque {}

impl HoldId {
    /// The value for an acquisition of which the observer was not told.
    pub const NONE: Self = Self(
        #[cfg(feature = "observe")]
        None,
    );

    /// Creates a `HoldId` with the observer's name for a hold. A [`NonNull::dangling`] names none.
    #[cfg(feature = "observe")]
    #[inline(always)]
    pub const fn new(name: NonNull<()>) -> Self {
        Self(Some(Opaque(name)))
    }

    /// Returns the observer's name. It is dangling for a guard that does not store it (`not_kept`).
    #[cfg(feature = "observe")]
    #[inline(always)]
    pub const fn name(self) -> Option<NonNull<()>> {
        match self.0 {
            Some(Opaque(name)) => Some(name),
            None => None,
        }
    }

    /// Returns `true` if the observer has to be told of the release.
    #[inline(always)]
    pub const fn is_some(self) -> bool {
        #[cfg(feature = "observe")]
        return self.0.is_some();
        #[cfg(not(feature = "observe"))]
        false
    }
}

/// The type of a lock, such as `Mutex<alloc::vec::Vec<u8>>`. A queue knows only its word, so the type is recorded where the lock is acquired.
#[derive(Debug)]
pub struct LockType {
    lock: &'static str,
    // `type_name` is not `const`, so it is called when a report is written.
    value: fn() -> &'static str,
}

impl LockType {
    /// Creates the type of a `lock`, such as `Mutex`, with a value of type `T`.
    pub const fn new<T: ?Sized>(lock: &'static str) -> Self {
        Self { lock, value: type_name::<T> }
    }
}

/// Equal if both print the same. One type may have several statics.
impl PartialEq for LockType {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other) || (self.lock, (self.value)()) == (other.lock, (other.value)())
    }
}

/// Shows the lock and the type of its value with full paths, as [`type_name`] returns it.
impl fmt::Display for LockType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}<{}>", self.lock, (self.value)())
    }
}
