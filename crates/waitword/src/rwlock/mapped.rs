//! The guards of a part of the value, made from a reader's guard or the writer's. What they do is written in `guards/mapped.rs`.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::ptr::{self, NonNull};
use std::sync::Arc;

use crate::guards::mapped::{map, mapped};
use crate::guards::whole::{leads_to_its_lock, writes};
use crate::holders::HoldId;
use crate::raw_rwlock::RawRwLock;
use crate::rwlock::RwLock;
use crate::rwlock::guard::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLockReadGuard, RwLockWriteGuard};

map! { ['a, T: ?Sized] RwLockReadGuard['a, T] of RwLock by "read" -> MappedRwLockReadGuard['a], lock => &lock.lock().raw; }
map! { ['a, T: ?Sized] RwLockWriteGuard['a, T] of RwLock by "write" -> MappedRwLockWriteGuard['a], lock => &lock.raw; mut }
map! { [T: ?Sized] OwnedRwLockReadGuard[T] of RwLock by "read_owned" -> OwnedMappedRwLockReadGuard[T], lock => lock; }
map! { [T: ?Sized] OwnedRwLockWriteGuard[T] of RwLock by "write_owned" -> OwnedMappedRwLockWriteGuard[T], lock => lock; mut }

mapped! {
    /// A guard of shared access to a [`RwLock`], for a part of the value. Dropping the guard releases the lock.
    ///
    /// Returned by [`RwLockReadGuard::map`].
    #[must_use = "dropping the guard releases the lock: keep it with `let guard = ...`"]
    ['a,] MappedRwLockReadGuard['a]: &'a RawRwLock, as if &'a U, release_read, release_read_fair, raw => raw;
}

mapped! {
    /// The guard of exclusive access to a [`RwLock`], for a part of the value. Dropping the guard releases the lock.
    ///
    /// Returned by [`RwLockWriteGuard::map`].
    #[must_use = "dropping the guard releases the lock: keep it with `let guard = ...`"]
    ['a,] MappedRwLockWriteGuard['a]: &'a RawRwLock, as if &'a mut U, release_write, release_write_fair, raw => raw; mut
}

mapped! {
    /// A guard of shared access to a [`RwLock`], for a part of the value, that holds an `Arc` of the lock. Dropping the guard releases
    /// the lock.
    ///
    /// Returned by [`OwnedRwLockReadGuard::map`]. `T` is the type of the value, `U` that of the part.
    #[must_use = "dropping the guard releases the lock: keep it with `let guard = ...`"]
    [T: ?Sized,] OwnedMappedRwLockReadGuard[T]: Arc<RwLock<T>>, as if U, release_read, release_read_fair, lock => lock.raw;
}

mapped! {
    /// The guard of exclusive access to a [`RwLock`], for a part of the value, that holds an `Arc` of the lock. Dropping the guard
    /// releases the lock.
    ///
    /// Returned by [`OwnedRwLockWriteGuard::map`]. `T` is the type of the value, `U` that of the part.
    #[must_use = "dropping the guard releases the lock: keep it with `let guard = ...`"]
    // As if `*mut U`, for the variance of a `&mut U` without its lifetime.
    [T: ?Sized,] OwnedMappedRwLockWriteGuard[T]: Arc<RwLock<T>>, as if *mut U, release_write, release_write_fair, lock => lock.raw; mut
}

writes! {
    ['a, U: ?Sized] MappedRwLockWriteGuard<'a, U>: this => this.part.as_mut();
    [T: ?Sized, U: ?Sized] OwnedMappedRwLockWriteGuard<T, U>: this => this.part.as_mut();
}

leads_to_its_lock! {
    rwlock;
    [T: ?Sized, U: ?Sized] OwnedMappedRwLockReadGuard<T, U>: this -> &Arc<RwLock<T>> { &this.lock }
    [T: ?Sized, U: ?Sized] OwnedMappedRwLockWriteGuard<T, U>: this -> &Arc<RwLock<T>> { &this.lock }
}

// SAFETY: it is a `&U`, and the right to release, which any thread may do.
unsafe impl<U: ?Sized + Sync> Send for MappedRwLockReadGuard<'_, U> {}
// SAFETY: it is a `&U`, and the right to release, which any thread may do.
unsafe impl<U: ?Sized + Sync> Sync for MappedRwLockReadGuard<'_, U> {}
// SAFETY: it is a `&mut U`, and the right to release, which any thread may do.
unsafe impl<U: ?Sized + Send> Send for MappedRwLockWriteGuard<'_, U> {}
// SAFETY: shared, it is a `&U`.
unsafe impl<U: ?Sized + Sync> Sync for MappedRwLockWriteGuard<'_, U> {}
// SAFETY: it is a `&U`, the right to release, which any thread may do, and an `Arc` of the lock, for which `T` has to be both.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Sync> Send for OwnedMappedRwLockReadGuard<T, U> {}
// SAFETY: it is a `&U`, the right to release, which any thread may do, and an `Arc` of the lock, for which `T` has to be both.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Sync> Sync for OwnedMappedRwLockReadGuard<T, U> {}
// SAFETY: it is a `&mut U`, the right to release, and an `Arc` of the lock, for which `T` has to be both.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Send> Send for OwnedMappedRwLockWriteGuard<T, U> {}
// SAFETY: shared, it is a `&U` and a `&Arc` of the lock.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Sync> Sync for OwnedMappedRwLockWriteGuard<T, U> {}

macro_rules! downgrade_map {
    ($guard:ident<$($life:lifetime,)? T> -> $read:ident, $mapped:ident<U $(of $value:ident)?>, $write:literal) => {
        impl<$($life,)? T: ?Sized> $guard<$($life,)? T> {
            /// Downgrades to shared access to a part of the value: [`downgrade`](Self::downgrade) and then `map`. No other writer acquires the
            /// lock in between.
            ///
            /// If `to_part` panics, the lock is released.
            ///
            /// ```
            #[doc = concat!("use waitword::{RwLock, ", stringify!($guard), " as Guard};")]
            ///
            /// let lock = std::sync::Arc::new(RwLock::new((1, "one")));
            #[doc = concat!("let mut writer = lock.", $write, "();")]
            /// writer.0 += 1;
            /// let number = Guard::downgrade_map(writer, |pair| &pair.0);
            /// assert_eq!((*number, lock.read().0), (2, 2));
            /// ```
            pub fn downgrade_map<U: ?Sized>(
                this: Self,
                to_part: impl FnOnce(&T) -> &U,
            ) -> $mapped<$($life,)? $($value,)? U> {
                let part = to_part(&this).into();
                // SAFETY: the part was borrowed from this guard just now.
                unsafe { Self::downgraded(this, part) }
            }

            /// Downgrades to shared access to a part of the value if `to_part` returns one, like [`downgrade_map`](Self::downgrade_map).
            ///
            /// # Errors
            /// Returns this guard, which still has exclusive access, if `to_part` returned `None`.
            #[doc(alias = "downgrade_filter_map")]
            pub fn try_downgrade_map<U: ?Sized>(
                this: Self,
                to_part: impl FnOnce(&T) -> Option<&U>,
            ) -> Result<$mapped<$($life,)? $($value,)? U>, Self> {
                let Some(part) = to_part(&this).map(Into::into) else { return Err(this) };
                // SAFETY: the part was borrowed from this guard just now.
                Ok(unsafe { Self::downgraded(this, part) })
            }

            /// # Safety
            /// The part was borrowed from this guard.
            unsafe fn downgraded<U: ?Sized>(this: Self, part: NonNull<U>) -> $mapped<$($life,)? $($value,)? U> {
                // SAFETY: by the contract of this function, the part was borrowed from this guard. It stays where it is
                // (invariant 3), and is not written from guard to guard (invariant 2).
                $read::map(Self::downgrade(this), |_| unsafe { part.as_ref() })
            }
        }
    };
}

downgrade_map! { RwLockWriteGuard<'a, T> -> RwLockReadGuard, MappedRwLockReadGuard<U>, "write" }
downgrade_map! { OwnedRwLockWriteGuard<T> -> OwnedRwLockReadGuard, OwnedMappedRwLockReadGuard<U of T>, "write_owned" }
