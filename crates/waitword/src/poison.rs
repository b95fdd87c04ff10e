//! A value that remembers that it was left in a panic.

use std::ops::{Deref, DerefMut};
use std::thread;

use crate::error::says;

/// A value that can be poisoned: a panic while it is being changed poisons it, and later accesses return an error.
///
/// The locks of this crate do not poison; where that matters, put this into them. It is a value like any other, independent
/// of locks, so a `RwLock<Poison<T>>` works as a `Mutex<Poison<T>>` does.
///
/// Only a panic poisons. A task that is dropped between two of its awaits leaves no trace, as it leaves none in the
/// locks of other crates: do not hold a [`PoisonGuard`] across an `await` if a change that is half done matters.
///
/// ```
/// use std::panic::catch_unwind;
/// use waitword::{Mutex, Poison, Poisoned};
///
/// let balance = Mutex::new(Poison::new(100));
/// catch_unwind(|| {
///     let mut locked = balance.lock();
///     let mut balance = locked.get_mut().unwrap();
///     *balance -= 30;
///     panic!("and the other account is not credited");
/// })
/// .unwrap_err();
///
/// let mut locked = balance.lock();
/// assert_eq!(locked.get(), Err(Poisoned));
/// // The caller knows how to repair the value.
/// *locked.clear_poison() = 100;
/// assert_eq!(locked.get(), Ok(&100));
/// ```
#[doc(alias("PoisonError", "PoisonLock"))]
#[derive(Debug, Default)]
pub struct Poison<T: ?Sized> {
    poisoned: bool,
    value: T,
}

impl<T> Poison<T> {
    /// A value that is not poisoned.
    pub const fn new(value: T) -> Self {
        Self { poisoned: false, value }
    }

    /// The value, poisoned or not: [`is_poisoned`](Self::is_poisoned) says which.
    pub fn into_inner(self) -> T {
        self.value
    }
}

impl<T: ?Sized> Poison<T> {
    /// The value, to be read.
    ///
    /// # Errors
    /// [`Poisoned`] if there was a panic while it was being changed.
    pub fn get(&self) -> Result<&T, Poisoned> {
        if self.poisoned { Err(Poisoned) } else { Ok(&self.value) }
    }

    /// The value, to be changed. A panic that begins while the guard lives, and unwinds through it, poisons the value.
    ///
    /// # Errors
    /// [`Poisoned`] if there was a panic while it was being changed.
    pub fn get_mut(&mut self) -> Result<PoisonGuard<'_, T>, Poisoned> {
        if self.poisoned {
            return Err(Poisoned);
        }
        Ok(PoisonGuard { poison: self, panicking_before: thread::panicking() })
    }

    /// Whether there was a panic while it was being changed.
    pub fn is_poisoned(&self) -> bool {
        self.poisoned
    }

    /// Clears the poison, and returns the value, to be repaired.
    pub fn clear_poison(&mut self) -> &mut T {
        self.poisoned = false;
        &mut self.value
    }
}

impl<T> From<T> for Poison<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

/// The way to change what is in a [`Poison`].
#[derive(Debug)]
#[must_use = "nothing can be poisoned once the guard is dropped, which is at once if nobody keeps it"]
pub struct PoisonGuard<'a, T: ?Sized> {
    poison: &'a mut Poison<T>,
    /// Whether a panic was under way before: a destructor that runs then may change the value completely.
    panicking_before: bool,
}

impl<T: ?Sized> Deref for PoisonGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.poison.value
    }
}

impl<T: ?Sized> DerefMut for PoisonGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.poison.value
    }
}

impl<T: ?Sized> Drop for PoisonGuard<'_, T> {
    fn drop(&mut self) {
        self.poison.poisoned = thread::panicking() && !self.panicking_before;
    }
}

/// A value was left in a panic, perhaps half changed: see [`Poison::clear_poison`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Poisoned;

says!(Poisoned: "somebody panicked while changing the value: mend it and call `clear_poison`, or give it up");
