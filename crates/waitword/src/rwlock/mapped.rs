//! Guards of a part of the value, made from a reader's guard or the writer's.
//!
//! They point to the part with a pointer and not a reference, because a reference that a function gets has to be good until
//! the function ends; and when a guard is dropped, the next one may write before `drop` has ended.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::ptr::{self, NonNull};
use std::sync::Arc;

use waitword_core::observe::holders::HoldId;

use crate::raw_rwlock::RawRwLock;
use crate::rwlock::RwLock;

macro_rules! mapped {
    (
        $(#[$docs:meta])*
        $mapped:ident<$($life:lifetime,)? U $(of $value:ident)?>: $lock:ty, as if $like:ty, $release:ident,
        $release_fair:ident, $lent:ident -> $raw:expr; $($mutable:tt)?
    ) => {
        $(#[$docs])*
        #[must_use = "the lock is released again at once if nobody keeps the guard: `let guard = ...`"]
        #[clippy::has_significant_drop]
        pub struct $mapped<$($life,)? $($value: ?Sized,)? U: ?Sized> {
            pub(super) lock: $lock,
            pub(super) hold: HoldId,
            pub(super) part: NonNull<U>,
            pub(super) _part: PhantomData<$like>,
        }

        impl<$($life,)? $($value: ?Sized,)? U: ?Sized> $mapped<$($life,)? $($value,)? U> {
            /// As the `map` of the guard that this was made from, from part to part.
            pub fn map<V: ?Sized>(
                $($mutable)? this: Self,
                to_part: impl FnOnce(&$($mutable)? U) -> &$($mutable)? V,
            ) -> $mapped<$($life,)? $($value,)? V> {
                let part = to_part(&$($mutable)? *this).into();
                let hold = this.hold;
                $mapped { lock: Self::forget(this), hold, part, _part: PhantomData }
            }

            /// As the `filter_map` of the guard that this was made from, from part to part.
            ///
            /// # Errors
            /// This guard, if `to_part` returned `None`.
            #[doc(alias = "try_map")]
            pub fn filter_map<V: ?Sized>(
                this: Self,
                to_part: impl FnOnce(&$($mutable)? U) -> Option<&$($mutable)? V>,
            ) -> Result<$mapped<$($life,)? $($value,)? V>, Self> {
                Self::try_map_or_err(this, |part| to_part(part).ok_or(())).map_err(|(this, ())| this)
            }

            /// As the `try_map_or_err` of the guard that this was made from, from part to part.
            ///
            /// # Errors
            /// This guard, and the error that `to_part` returned.
            pub fn try_map_or_err<V: ?Sized, E>(
                $($mutable)? this: Self,
                to_part: impl FnOnce(&$($mutable)? U) -> Result<&$($mutable)? V, E>,
            ) -> Result<$mapped<$($life,)? $($value,)? V>, (Self, E)> {
                match to_part(&$($mutable)? *this).map(Into::into) {
                    Ok(part) => {
                        let hold = this.hold;
                        Ok($mapped { lock: Self::forget(this), hold, part, _part: PhantomData })
                    }
                    Err(error) => Err((this, error)),
                }
            }

            /// As the `unlock_fair` of the guard that this was made from.
            #[doc(alias("drop_fair", "release_fair"))]
            pub fn unlock_fair(this: Self) {
                let hold = this.hold;
                let $lent = &Self::forget(this);
                $raw.$release_fair(hold);
            }

            /// The lock, which stays as it is.
            fn forget(this: Self) -> $lock {
                let this = ManuallyDrop::new(this);
                // SAFETY: `this` is neither dropped nor read again, so what it held goes to the caller (invariant 1).
                unsafe { ptr::read(&this.lock) }
            }
        }

        impl<$($life,)? $($value: ?Sized,)? U: ?Sized> Drop for $mapped<$($life,)? $($value,)? U> {
            #[inline]
            fn drop(&mut self) {
                let $lent = &self.lock;
                $raw.$release(self.hold);
            }
        }

        impl<$($life,)? $($value: ?Sized,)? U: ?Sized> Deref for $mapped<$($life,)? $($value,)? U> {
            type Target = U;

            #[inline]
            fn deref(&self) -> &U {
                // SAFETY: it was borrowed from a guard that is forgotten for this one (invariant 1), which is borrowed. The value
                // has not moved, and nothing writes to it (invariants 2 and 3).
                unsafe { self.part.as_ref() }
            }
        }

        impl<$($life,)? $($value: ?Sized,)? U: ?Sized + fmt::Debug> fmt::Debug for $mapped<$($life,)? $($value,)? U> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<$($life,)? $($value: ?Sized,)? U: ?Sized + fmt::Display> fmt::Display for $mapped<$($life,)? $($value,)? U> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    };
}

mapped! {
    /// One of the readers of a [`RwLock`], of a part of the value. Made by [`RwLockReadGuard::map`](crate::RwLockReadGuard::map).
    MappedRwLockReadGuard<'a, U>: &'a RawRwLock, as if &'a U, release_read, release_read_fair, raw -> raw;
}

mapped! {
    /// The writer of a [`RwLock`], of a part of the value. Made by [`RwLockWriteGuard::map`](crate::RwLockWriteGuard::map).
    MappedRwLockWriteGuard<'a, U>: &'a RawRwLock, as if &'a mut U, release_write, release_write_fair, raw -> raw; mut
}

mapped! {
    /// One of the readers of a [`RwLock`], of a part of the value, with a share in the lock. Made by
    /// [`OwnedRwLockReadGuard::map`](crate::OwnedRwLockReadGuard::map). `T` is the value, `U` the part.
    OwnedMappedRwLockReadGuard<U of T>: Arc<RwLock<T>>, as if U, release_read, release_read_fair, rwlock -> rwlock.raw;
}

mapped! {
    /// The writer of a [`RwLock`], of a part of the value, with a share in the lock. Made by
    /// [`OwnedRwLockWriteGuard::map`](crate::OwnedRwLockWriteGuard::map). `T` is the value, `U` the part.
    // As if `*mut U`, for the variance of a `&mut U` without its lifetime.
    OwnedMappedRwLockWriteGuard<U of T>: Arc<RwLock<T>>, as if *mut U, release_write, release_write_fair, rwlock -> rwlock.raw; mut
}

macro_rules! mapped_mutably {
    ($($mapped:ident<$($life:lifetime,)? U $(of $value:ident)?>),*) => {$(
        impl<$($life,)? $($value: ?Sized,)? U: ?Sized> DerefMut for $mapped<$($life,)? $($value,)? U> {
            #[inline]
            fn deref_mut(&mut self) -> &mut U {
                // SAFETY: as for `deref`. It was borrowed mutably from the only guard, which is this one now (invariant 2), and
                // this one is borrowed mutably.
                unsafe { self.part.as_mut() }
            }
        }
    )*};
}

mapped_mutably! { MappedRwLockWriteGuard<'a, U>, OwnedMappedRwLockWriteGuard<U of T> }

// SAFETY: it is a `&U`, and the right to release, which any thread may do.
unsafe impl<U: ?Sized + Sync> Send for MappedRwLockReadGuard<'_, U> {}
// SAFETY: it is a `&U`, and the right to release, which any thread may do.
unsafe impl<U: ?Sized + Sync> Sync for MappedRwLockReadGuard<'_, U> {}
// SAFETY: it is a `&mut U`, and the right to release, which any thread may do.
unsafe impl<U: ?Sized + Send> Send for MappedRwLockWriteGuard<'_, U> {}
// SAFETY: shared, it is a `&U`.
unsafe impl<U: ?Sized + Sync> Sync for MappedRwLockWriteGuard<'_, U> {}
// SAFETY: it is a `&U`, the right to release, which any thread may do, and a share in the lock, for which `T` has to be both.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Sync> Send for OwnedMappedRwLockReadGuard<T, U> {}
// SAFETY: it is a `&U`, the right to release, which any thread may do, and a share in the lock, for which `T` has to be both.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Sync> Sync for OwnedMappedRwLockReadGuard<T, U> {}
// SAFETY: it is a `&mut U`, the right to release, and a share in the lock, for which `T` has to be both.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Send> Send for OwnedMappedRwLockWriteGuard<T, U> {}
// SAFETY: shared, it is a `&U` and a `&Arc` of the lock.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Sync> Sync for OwnedMappedRwLockWriteGuard<T, U> {}

macro_rules! leads_to_its_lock {
    ($($mapped:ident)*) => {$(
        impl<T: ?Sized, U: ?Sized> $mapped<T, U> {
            /// The lock that this is a guard of.
            pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
                &this.lock
            }
        }
    )*};
}

// The borrowed guards have the lock's word only.
leads_to_its_lock! { OwnedMappedRwLockReadGuard OwnedMappedRwLockWriteGuard }
