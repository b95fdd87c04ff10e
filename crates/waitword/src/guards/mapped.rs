//! Guards of a part of the value, and how they are made.
//!
//! A mapped guard has a pointer to the part, and of the lock what it takes to release it. The pointer is not a reference: a
//! reference that is passed to a function has to be valid until the function returns, and the next holder may have the value
//! before `drop` returns.

/// The methods of a guard of the whole value that make one of a part: `$mapped`, which has `$of` of the lock. `$mutable` is `mut` where the
/// guards give mutable access.
macro_rules! map {
    (
        $Guard:ident<$($life:lifetime,)? T> of $Lock:ident by $acquire:literal -> $Mapped:ident<U $(of $Value:ident)?>,
        $lock:ident => $of:expr; $($mutable:tt)?
    ) => {
        impl<$($life,)? T: ?Sized> $Guard<$($life,)? T> {
            /// A guard of a part of the value. The lock is held until that guard is dropped.
            ///
            /// If `to_part` panics, the lock is released.
            ///
            /// ```
            #[doc = concat!("use waitword::{", stringify!($Lock), ", ", stringify!($Guard), "};")]
            ///
            #[doc = concat!("let lock = std::sync::Arc::new(", stringify!($Lock), "::new((1, \"one\")));")]
            #[doc = concat!(
                "let number = ", stringify!($Guard), "::map(lock.", $acquire, "(), |pair| &", stringify!($($mutable)?), " pair.0);"
            )]
            /// assert_eq!(*number, 1);
            /// assert!(lock.is_locked());
            /// drop(number);
            /// assert!(!lock.is_locked());
            /// ```
            pub fn map<U: ?Sized>(
                $($mutable)? this: Self,
                to_part: impl FnOnce(&$($mutable)? T) -> &$($mutable)? U,
            ) -> $Mapped<$($life,)? $($Value,)? U> {
                let part = to_part(&$($mutable)? *this).into();
                let hold = this.hold;
                let $lock = Self::forget(this);
                $Mapped { lock: $of, hold, part, _part: PhantomData }
            }

            /// As [`map`](Self::map), if there is such a part.
            ///
            /// # Errors
            /// This guard, if `to_part` returned `None`.
            #[doc(alias = "try_map")]
            pub fn filter_map<U: ?Sized>(
                this: Self,
                to_part: impl FnOnce(&$($mutable)? T) -> Option<&$($mutable)? U>,
            ) -> Result<$Mapped<$($life,)? $($Value,)? U>, Self> {
                Self::try_map_or_err(this, |value| to_part(value).ok_or(())).map_err(|(this, ())| this)
            }

            /// As [`map`](Self::map), if there is such a part; otherwise with the reason why not.
            ///
            /// ```
            #[doc = concat!("use waitword::{", stringify!($Lock), ", ", stringify!($Guard), " as Guard};")]
            ///
            #[doc = concat!("let lock = std::sync::Arc::new(", stringify!($Lock), "::new(\"no number\"));")]
            #[doc = concat!("let guard = lock.", $acquire, "();")]
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
            ) -> Result<$Mapped<$($life,)? $($Value,)? U>, (Self, E)> {
                match to_part(&$($mutable)? *this).map(Into::into) {
                    Ok(part) => {
                        let hold = this.hold;
                        let $lock = Self::forget(this);
                        Ok($Mapped { lock: $of, hold, part, _part: PhantomData })
                    }
                    Err(error) => Err((this, error)),
                }
            }
        }
    };
}

/// A guard of a part of the value, which accesses it as a `$Like` would, and leads to the raw lock by `$raw`.
macro_rules! mapped {
    (
        $(#[$docs:meta])*
        $Mapped:ident<$($life:lifetime,)? U $(of $Value:ident)?>: $Shared:ty, as if $Like:ty,
        $release:ident, $release_fair:ident, $lock:ident => $raw:expr; $($mutable:tt)?
    ) => {
        $(#[$docs])*
        #[must_use = "the lock is released again at once if nobody keeps the guard: `let guard = ...`"]
        #[clippy::has_significant_drop]
        pub struct $Mapped<$($life,)? $($Value: ?Sized,)? U: ?Sized> {
            lock: $Shared,
            hold: HoldId,
            part: NonNull<U>,
            _part: PhantomData<$Like>,
        }

        impl<$($life,)? $($Value: ?Sized,)? U: ?Sized> $Mapped<$($life,)? $($Value,)? U> {
            /// As the `map` of the guard that this was made from, from part to part.
            pub fn map<V: ?Sized>(
                $($mutable)? this: Self,
                to_part: impl FnOnce(&$($mutable)? U) -> &$($mutable)? V,
            ) -> $Mapped<$($life,)? $($Value,)? V> {
                let part = to_part(&$($mutable)? *this).into();
                let hold = this.hold;
                $Mapped { lock: Self::forget(this), hold, part, _part: PhantomData }
            }

            /// As the `filter_map` of the guard that this was made from, from part to part.
            ///
            /// # Errors
            /// This guard, if `to_part` returned `None`.
            #[doc(alias = "try_map")]
            pub fn filter_map<V: ?Sized>(
                this: Self,
                to_part: impl FnOnce(&$($mutable)? U) -> Option<&$($mutable)? V>,
            ) -> Result<$Mapped<$($life,)? $($Value,)? V>, Self> {
                Self::try_map_or_err(this, |value| to_part(value).ok_or(())).map_err(|(this, ())| this)
            }

            /// As the `try_map_or_err` of the guard that this was made from, from part to part.
            ///
            /// # Errors
            /// This guard, and the error that `to_part` returned.
            pub fn try_map_or_err<V: ?Sized, E>(
                $($mutable)? this: Self,
                to_part: impl FnOnce(&$($mutable)? U) -> Result<&$($mutable)? V, E>,
            ) -> Result<$Mapped<$($life,)? $($Value,)? V>, (Self, E)> {
                match to_part(&$($mutable)? *this).map(Into::into) {
                    Ok(part) => {
                        let hold = this.hold;
                        Ok($Mapped { lock: Self::forget(this), hold, part, _part: PhantomData })
                    }
                    Err(error) => Err((this, error)),
                }
            }

            /// As the `unlock_fair` of the guard that this was made from.
            #[doc(alias("drop_fair", "release_fair"))]
            pub fn unlock_fair(this: Self) {
                let hold = this.hold;
                let $lock = &Self::forget(this);
                $raw.$release_fair(hold);
            }

            /// The lock, which stays as it is.
            fn forget(this: Self) -> $Shared {
                let this = ManuallyDrop::new(this);
                // SAFETY: `this` is neither dropped nor read again, so what it held goes to the caller (invariant 1).
                unsafe { ptr::read(&this.lock) }
            }
        }

        impl<$($life,)? $($Value: ?Sized,)? U: ?Sized> Drop for $Mapped<$($life,)? $($Value,)? U> {
            #[inline]
            fn drop(&mut self) {
                let $lock = &self.lock;
                $raw.$release(self.hold);
            }
        }

        impl<$($life,)? $($Value: ?Sized,)? U: ?Sized> Deref for $Mapped<$($life,)? $($Value,)? U> {
            type Target = U;

            #[inline]
            fn deref(&self) -> &U {
                // SAFETY: it was borrowed from a guard that is forgotten for this one (invariant 1), which is borrowed. The value
                // has not moved, and nothing writes to it (invariants 2 and 3).
                unsafe { self.part.as_ref() }
            }
        }

        $crate::guards::shows_its_value! { [$($life,)? $($Value: ?Sized,)? U: ?Sized] $Mapped<$($life,)? $($Value,)? U>: U }
    };
}

/// Mutable access to the part.
macro_rules! mapped_mutably {
    ($([$($generic:tt)+] $Mapped:ty),+) => {$(
        impl<$($generic)+> DerefMut for $Mapped {
            #[inline]
            fn deref_mut(&mut self) -> &mut U {
                // SAFETY: as for `deref`. It was borrowed mutably from the only guard, which is this one now (invariant 2), and
                // this one is borrowed mutably.
                unsafe { self.part.as_mut() }
            }
        }
    )+};
}

pub(crate) use {map, mapped, mapped_mutably};
