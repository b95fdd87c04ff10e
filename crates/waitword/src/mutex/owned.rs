//! The guard over an `Arc`: it has a share in the mutex, and borrows nothing.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::ptr;
use std::sync::Arc;

use waitword_core::observe::holders::{Hold, HoldId, may_be_elsewhere};

use crate::acquire::Acquire as _;
use crate::mutex::lock::Mutex;
use crate::mutex::mapped::OwnedMappedMutexGuard;

/// Access to the value of a locked [`Mutex`], with a share in the mutex. Dropping the guard releases the mutex.
///
/// As [`MutexGuard`](crate::MutexGuard), but borrows nothing.
#[doc(alias = "ArcMutexGuard")]
#[must_use = "the mutex is unlocked again at once if nobody keeps the guard: `let guard = ...`"]
#[clippy::has_significant_drop]
pub struct OwnedMutexGuard<T: ?Sized> {
    pub(super) mutex: Arc<Mutex<T>>,
    pub(crate) hold: HoldId,
    _value: PhantomData<T>,
}

impl<T: ?Sized> OwnedMutexGuard<T> {
    /// # Safety
    /// The mutex was acquired, and this is the guard of that acquisition (invariant 1).
    #[inline]
    pub(crate) unsafe fn new(mutex: Arc<Mutex<T>>, hold: HoldId) -> Self {
        may_be_elsewhere(mutex.raw.held_at(), Hold::Mutex, hold);
        Self { mutex, hold, _value: PhantomData }
    }

    /// The mutex that this is the guard of.
    #[doc(alias = "source")]
    pub fn mutex(this: &Self) -> &Arc<Mutex<T>> {
        &this.mutex
    }

    /// As [`MutexGuard::unlock_fair`](crate::MutexGuard::unlock_fair).
    #[doc(alias("drop_fair", "release_fair"))]
    pub fn unlock_fair(this: Self) {
        let hold = this.hold;
        Self::forget(this).raw.release_fair(hold);
    }

    /// As [`MutexGuard::bump`](crate::MutexGuard::bump).
    ///
    /// # Panics
    /// As [`MutexGuard::bump`](crate::MutexGuard::bump).
    #[inline]
    #[track_caller]
    pub fn bump(this: &mut Self) {
        this.mutex.raw.bump(&mut this.hold, Some("lock_owned_async"));
    }

    /// As [`MutexGuard::map`](crate::MutexGuard::map), with a guard that has a share in the mutex.
    pub fn map<U: ?Sized>(
        mut this: Self,
        to_part: impl FnOnce(&mut T) -> &mut U,
    ) -> OwnedMappedMutexGuard<T, U> {
        let (part, hold) = (to_part(&mut this).into(), this.hold);
        // SAFETY: this guard is forgotten, so the new one is the only one; the part was borrowed from it (invariants 1 and 3).
        unsafe { OwnedMappedMutexGuard::new(hold, Self::forget(this), part) }
    }

    /// As [`MutexGuard::filter_map`](crate::MutexGuard::filter_map), with a guard that has a share in the mutex.
    ///
    /// # Errors
    /// This guard, if `to_part` returned `None`.
    #[doc(alias = "try_map")]
    pub fn filter_map<U: ?Sized>(
        this: Self,
        to_part: impl FnOnce(&mut T) -> Option<&mut U>,
    ) -> Result<OwnedMappedMutexGuard<T, U>, Self> {
        Self::try_map_or_err(this, |value| to_part(value).ok_or(())).map_err(|(this, ())| this)
    }

    /// As [`MutexGuard::try_map_or_err`](crate::MutexGuard::try_map_or_err), with a guard that has a share in the mutex.
    ///
    /// # Errors
    /// This guard, and the error that `to_part` returned.
    pub fn try_map_or_err<U: ?Sized, E>(
        mut this: Self,
        to_part: impl FnOnce(&mut T) -> Result<&mut U, E>,
    ) -> Result<OwnedMappedMutexGuard<T, U>, (Self, E)> {
        let hold = this.hold;
        match to_part(&mut this).map(Into::into) {
            // SAFETY: this guard is forgotten, so the new one is the only one; the part was borrowed from it (invariants 1 and 3).
            Ok(part) => Ok(unsafe { OwnedMappedMutexGuard::new(hold, Self::forget(this), part) }),
            Err(error) => Err((this, error)),
        }
    }

    /// Releases the mutex, and returns the share in it.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use waitword::{Mutex, OwnedMutexGuard};
    ///
    /// let guard = Arc::new(Mutex::new(1)).lock_owned();
    /// let mutex = OwnedMutexGuard::into_arc(guard);
    /// assert_eq!(Arc::into_inner(mutex).map(Mutex::into_inner), Some(1));
    /// ```
    pub fn into_arc(this: Self) -> Arc<Mutex<T>> {
        let hold = this.hold;
        let mutex = Self::forget(this);
        mutex.raw.release(hold);
        mutex
    }

    /// As [`into_arc`](Self::into_arc), but releases the mutex as [`unlock_fair`](Self::unlock_fair) does.
    pub fn into_arc_fair(this: Self) -> Arc<Mutex<T>> {
        let hold = this.hold;
        let mutex = Self::forget(this);
        mutex.raw.release_fair(hold);
        mutex
    }

    /// The share in the mutex, which stays locked.
    pub(super) fn forget(this: Self) -> Arc<Mutex<T>> {
        let this = ManuallyDrop::new(this);
        // SAFETY: neither dropped nor read again.
        unsafe { ptr::read(&this.mutex) }
    }
}

impl<T: ?Sized> Drop for OwnedMutexGuard<T> {
    #[inline]
    fn drop(&mut self) {
        self.mutex.raw.release(self.hold);
    }
}

impl<T: ?Sized> Deref for OwnedMutexGuard<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this is the only guard, and it is borrowed (invariants 1 and 2).
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T: ?Sized> DerefMut for OwnedMutexGuard<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this is the only guard, and it is borrowed mutably (invariants 1 and 2).
        unsafe { &mut *self.mutex.value.get() }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for OwnedMutexGuard<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for OwnedMutexGuard<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
