//! Guards of a part of the value.
//!
//! A mapped guard has a pointer to the part, and of the mutex what it takes to release it. The pointer is not a reference: a
//! reference that is passed to a function has to be valid until the function returns, and the next holder may have the value
//! before `drop` returns.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::ptr::{self, NonNull};
use std::sync::Arc;

use waitword_core::observe::holders::HoldId;

use crate::mutex::lock::Mutex;
use crate::raw_mutex::RawMutex;

/// Access to a part of the value of a locked [`Mutex`]. Dropping the guard releases the mutex.
///
/// Made by [`MutexGuard::map`](crate::MutexGuard::map).
#[must_use = "the mutex is unlocked again at once if nobody keeps the guard: `let guard = ...`"]
#[clippy::has_significant_drop]
pub struct MappedMutexGuard<'a, T: ?Sized> {
    raw: &'a RawMutex,
    hold: HoldId,
    part: NonNull<T>,
    _part: PhantomData<&'a mut T>,
}

// SAFETY: it is a `&mut T`, and the right to release, which any thread may do.
unsafe impl<T: ?Sized + Send> Send for MappedMutexGuard<'_, T> {}
// SAFETY: shared, it is a `&T`.
unsafe impl<T: ?Sized + Sync> Sync for MappedMutexGuard<'_, T> {}

impl<'a, T: ?Sized> MappedMutexGuard<'a, T> {
    /// # Safety
    /// The mutex was acquired, this is the guard of that acquisition (invariant 1), and `part` was borrowed mutably from the
    /// guard before.
    pub(super) unsafe fn new(hold: HoldId, raw: &'a RawMutex, part: NonNull<T>) -> Self {
        Self { raw, hold, part, _part: PhantomData }
    }

    /// As [`MutexGuard::map`](crate::MutexGuard::map), from part to part.
    ///
    /// ```
    /// use waitword::{MappedMutexGuard, Mutex, MutexGuard};
    ///
    /// let mutex = Mutex::new(((1, 2), 3));
    /// let pair = MutexGuard::map(mutex.lock(), |all| &mut all.0);
    /// let second = MappedMutexGuard::map(pair, |pair| &mut pair.1);
    /// assert_eq!(*second, 2);
    /// ```
    pub fn map<U: ?Sized>(mut this: Self, to_part: impl FnOnce(&mut T) -> &mut U) -> MappedMutexGuard<'a, U> {
        let (part, hold) = (to_part(&mut this).into(), this.hold);
        // SAFETY: this guard is forgotten, so the new one is the only one; the part was borrowed from it (invariants 1 and 3).
        unsafe { MappedMutexGuard::new(hold, Self::forget(this), part) }
    }

    /// As [`MutexGuard::filter_map`](crate::MutexGuard::filter_map), from part to part.
    ///
    /// # Errors
    /// This guard, if `to_part` returned `None`.
    #[doc(alias = "try_map")]
    pub fn filter_map<U: ?Sized>(
        this: Self,
        to_part: impl FnOnce(&mut T) -> Option<&mut U>,
    ) -> Result<MappedMutexGuard<'a, U>, Self> {
        Self::try_map_or_err(this, |part| to_part(part).ok_or(())).map_err(|(this, ())| this)
    }

    /// As [`MutexGuard::try_map_or_err`](crate::MutexGuard::try_map_or_err), from part to part.
    ///
    /// # Errors
    /// This guard, and the error that `to_part` returned.
    pub fn try_map_or_err<U: ?Sized, E>(
        mut this: Self,
        to_part: impl FnOnce(&mut T) -> Result<&mut U, E>,
    ) -> Result<MappedMutexGuard<'a, U>, (Self, E)> {
        let hold = this.hold;
        match to_part(&mut this).map(Into::into) {
            // SAFETY: this guard is forgotten, so the new one is the only one; the part was borrowed from it (invariants 1 and 3).
            Ok(part) => Ok(unsafe { MappedMutexGuard::new(hold, Self::forget(this), part) }),
            Err(error) => Err((this, error)),
        }
    }

    /// As [`MutexGuard::unlock_fair`](crate::MutexGuard::unlock_fair).
    #[doc(alias("drop_fair", "release_fair"))]
    pub fn unlock_fair(this: Self) {
        let hold = this.hold;
        Self::forget(this).release_fair(hold);
    }

    /// The mutex, which stays locked.
    fn forget(this: Self) -> &'a RawMutex {
        ManuallyDrop::new(this).raw
    }
}

impl<T: ?Sized> Drop for MappedMutexGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.raw.release(self.hold);
    }
}

/// Access to a part of the value of a locked [`Mutex`], with a share in the mutex. Dropping the guard releases the mutex.
///
/// Made by [`OwnedMutexGuard::map`](crate::OwnedMutexGuard::map). `T` is the value, `U` the part.
#[doc(alias = "MappedArcMutexGuard")]
#[must_use = "the mutex is unlocked again at once if nobody keeps the guard: `let guard = ...`"]
#[clippy::has_significant_drop]
pub struct OwnedMappedMutexGuard<T: ?Sized, U: ?Sized = T> {
    mutex: Arc<Mutex<T>>,
    hold: HoldId,
    part: NonNull<U>,
    // A `*mut`, for the variance of a `&mut U` without its lifetime.
    _part: PhantomData<*mut U>,
}

// SAFETY: it is a `&mut U`, the right to release, which any thread may do, and a share in the mutex, for which `T` has to be
// `Send`.
unsafe impl<T: ?Sized + Send, U: ?Sized + Send> Send for OwnedMappedMutexGuard<T, U> {}
// SAFETY: shared, it is a `&U` and a `&Arc` of the mutex, for which `T` has to be `Send`.
unsafe impl<T: ?Sized + Send, U: ?Sized + Sync> Sync for OwnedMappedMutexGuard<T, U> {}

impl<T: ?Sized, U: ?Sized> OwnedMappedMutexGuard<T, U> {
    /// # Safety
    /// The mutex was acquired, this is the guard of that acquisition (invariant 1), and `part` was borrowed mutably from the
    /// guard before.
    pub(super) unsafe fn new(hold: HoldId, mutex: Arc<Mutex<T>>, part: NonNull<U>) -> Self {
        Self { mutex, hold, part, _part: PhantomData }
    }

    /// The mutex that this is a guard of.
    pub fn mutex(this: &Self) -> &Arc<Mutex<T>> {
        &this.mutex
    }

    /// As [`MutexGuard::map`](crate::MutexGuard::map), from part to part.
    pub fn map<V: ?Sized>(
        mut this: Self,
        to_part: impl FnOnce(&mut U) -> &mut V,
    ) -> OwnedMappedMutexGuard<T, V> {
        let (part, hold) = (to_part(&mut this).into(), this.hold);
        // SAFETY: this guard is forgotten, so the new one is the only one; the part was borrowed from it (invariants 1 and 3).
        unsafe { OwnedMappedMutexGuard::new(hold, Self::forget(this), part) }
    }

    /// As [`MutexGuard::filter_map`](crate::MutexGuard::filter_map), from part to part.
    ///
    /// # Errors
    /// This guard, if `to_part` returned `None`.
    #[doc(alias = "try_map")]
    pub fn filter_map<V: ?Sized>(
        this: Self,
        to_part: impl FnOnce(&mut U) -> Option<&mut V>,
    ) -> Result<OwnedMappedMutexGuard<T, V>, Self> {
        Self::try_map_or_err(this, |part| to_part(part).ok_or(())).map_err(|(this, ())| this)
    }

    /// As [`MutexGuard::try_map_or_err`](crate::MutexGuard::try_map_or_err), from part to part.
    ///
    /// # Errors
    /// This guard, and the error that `to_part` returned.
    pub fn try_map_or_err<V: ?Sized, E>(
        mut this: Self,
        to_part: impl FnOnce(&mut U) -> Result<&mut V, E>,
    ) -> Result<OwnedMappedMutexGuard<T, V>, (Self, E)> {
        let hold = this.hold;
        match to_part(&mut this).map(Into::into) {
            // SAFETY: this guard is forgotten, so the new one is the only one; the part was borrowed from it (invariants 1 and 3).
            Ok(part) => Ok(unsafe { OwnedMappedMutexGuard::new(hold, Self::forget(this), part) }),
            Err(error) => Err((this, error)),
        }
    }

    /// As [`MutexGuard::unlock_fair`](crate::MutexGuard::unlock_fair).
    #[doc(alias("drop_fair", "release_fair"))]
    pub fn unlock_fair(this: Self) {
        let hold = this.hold;
        Self::forget(this).raw.release_fair(hold);
    }

    /// The share in the mutex, which stays locked.
    fn forget(this: Self) -> Arc<Mutex<T>> {
        let this = ManuallyDrop::new(this);
        // SAFETY: neither dropped nor read again.
        unsafe { ptr::read(&this.mutex) }
    }
}

impl<T: ?Sized, U: ?Sized> Drop for OwnedMappedMutexGuard<T, U> {
    #[inline]
    fn drop(&mut self) {
        self.mutex.raw.release(self.hold);
    }
}

/// The traits of both guards that give access to the part.
macro_rules! shows_its_part {
    ($Part:ident in $guard:ty, $($generic:tt)+) => {
        impl<$($generic)+> Deref for $guard {
            type Target = $Part;

            #[inline]
            fn deref(&self) -> &$Part {
                // SAFETY: this is the only guard, it is borrowed, and the part is where it was (invariants 1 to 3).
                unsafe { self.part.as_ref() }
            }
        }

        impl<$($generic)+> DerefMut for $guard {
            #[inline]
            fn deref_mut(&mut self) -> &mut $Part {
                // SAFETY: this is the only guard, it is borrowed mutably, and the part is where it was (invariants 1 to 3).
                unsafe { self.part.as_mut() }
            }
        }

        impl<$($generic)+> fmt::Debug for $guard where $Part: fmt::Debug {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<$($generic)+> fmt::Display for $guard where $Part: fmt::Display {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    };
}

shows_its_part!(T in MappedMutexGuard<'_, T>, T: ?Sized);
shows_its_part!(U in OwnedMappedMutexGuard<T, U>, T: ?Sized, U: ?Sized);
