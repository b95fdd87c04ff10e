//! How the guards of a part of the value (`mapped.rs`) are made from a reader's guard or the writer's.

use std::marker::PhantomData;
use std::ptr::NonNull;

use crate::rwlock::{
    MappedRwLockReadGuard, MappedRwLockWriteGuard, OwnedMappedRwLockReadGuard, OwnedMappedRwLockWriteGuard,
    OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLockReadGuard, RwLockWriteGuard,
};

macro_rules! map {
    (
        $guard:ident<$($life:lifetime,)? T> -> $mapped:ident<U $(of $value:ident)?>,
        $rwlock:ident -> $lock:expr, $lent:literal; $($mutable:tt)?
    ) => {
        impl<$($life,)? T: ?Sized> $guard<$($life,)? T> {
            /// A guard of a part of the value. The lock is held until that is dropped.
            ///
            /// If `to_part` panics, the lock is released.
            ///
            /// ```
            #[doc = concat!("use waitword::{RwLock, ", stringify!($guard), "};")]
            ///
            /// let lock = std::sync::Arc::new(RwLock::new((1, "one")));
            #[doc = concat!("let number = ", stringify!($guard), "::map(lock.", $lent, "(), |pair| &", stringify!($($mutable)?), " pair.0);")]
            /// assert_eq!(*number, 1);
            /// ```
            pub fn map<U: ?Sized>(
                $($mutable)? this: Self,
                to_part: impl FnOnce(&$($mutable)? T) -> &$($mutable)? U,
            ) -> $mapped<$($life,)? $($value,)? U> {
                let part = to_part(&$($mutable)? *this).into();
                let hold = this.hold;
                let $rwlock = Self::forget(this);
                $mapped { lock: $lock, hold, part, _part: PhantomData }
            }

            /// As [`map`](Self::map), if there is such a part.
            ///
            /// # Errors
            /// This guard, if `to_part` returned `None`.
            #[doc(alias = "try_map")]
            pub fn filter_map<U: ?Sized>(
                this: Self,
                to_part: impl FnOnce(&$($mutable)? T) -> Option<&$($mutable)? U>,
            ) -> Result<$mapped<$($life,)? $($value,)? U>, Self> {
                Self::try_map_or_err(this, |value| to_part(value).ok_or(())).map_err(|(this, ())| this)
            }

            /// As [`map`](Self::map), if there is such a part; otherwise with the reason why not.
            ///
            /// ```
            #[doc = concat!("use waitword::{RwLock, ", stringify!($guard), " as Guard};")]
            ///
            /// let lock = std::sync::Arc::new(RwLock::new("no number"));
            #[doc = concat!("let guard = lock.", $lent, "();")]
            /// let number = Guard::try_map_or_err(guard, |text| text.parse::<i32>().map(|_| text));
            /// let (guard, why) = number.unwrap_err();
            /// assert_eq!((*guard, why.to_string().as_str()), ("no number", "invalid digit found in string"));
            /// ```
            ///
            /// # Errors
            /// This guard, and the error that `to_part` returned.
            pub fn try_map_or_err<U: ?Sized, E>(
                $($mutable)? this: Self,
                to_part: impl FnOnce(&$($mutable)? T) -> Result<&$($mutable)? U, E>,
            ) -> Result<$mapped<$($life,)? $($value,)? U>, (Self, E)> {
                match to_part(&$($mutable)? *this).map(Into::into) {
                    Ok(part) => {
                        let hold = this.hold;
                        let $rwlock = Self::forget(this);
                        Ok($mapped { lock: $lock, hold, part, _part: PhantomData })
                    }
                    Err(error) => Err((this, error)),
                }
            }
        }
    };
}

map! { RwLockReadGuard<'a, T> -> MappedRwLockReadGuard<U>, rwlock -> &rwlock.lock().raw, "read"; }
map! { RwLockWriteGuard<'a, T> -> MappedRwLockWriteGuard<U>, rwlock -> &rwlock.raw, "write"; mut }
map! { OwnedRwLockReadGuard<T> -> OwnedMappedRwLockReadGuard<U of T>, rwlock -> rwlock, "read_owned"; }
map! { OwnedRwLockWriteGuard<T> -> OwnedMappedRwLockWriteGuard<U of T>, rwlock -> rwlock, "write_owned"; mut }

macro_rules! downgrade_map {
    ($guard:ident<$($life:lifetime,)? T> -> $read:ident, $mapped:ident<U $(of $value:ident)?>, $write:literal) => {
        impl<$($life,)? T: ?Sized> $guard<$($life,)? T> {
            /// Becomes a reader of a part of the value, as with [`downgrade`](Self::downgrade) and the `map` of its guard. There is
            /// no writer in between.
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

            /// As [`downgrade_map`](Self::downgrade_map), if there is such a part.
            ///
            /// # Errors
            /// This guard, which still is the writer's, if `to_part` returned `None`.
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
