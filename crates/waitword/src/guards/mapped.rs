//! Guards of a part of the value, and how they are made.
//!
//! A mapped guard has a pointer to the part, and what it needs of the lock to release it. The pointer is not a reference: a reference that
//! is passed to a function has to be valid until the function returns, and the next holder may have the value
//! before `drop` returns.

/// The methods of a guard that make a guard of a part: `$Mapped`, which has `$of` of the lock. `$mutable` is `mut` where the guards give
/// mutable access.
macro_rules! map_methods {
    (
        [$($generic:tt)+] $Guard:ty, $Value:ident -> $Mapped:ident[$($arg:tt),*], $lock:ident => $of:expr; ($($mutable:tt)?);
        $(#[$map_docs:meta])* map; $(#[$filter_docs:meta])* filter_map; $(#[$try_docs:meta])* try_map_or_err;
    ) => {
        impl<$($generic)+> $Guard {
            $(#[$map_docs])*
            pub fn map<P: ?Sized>(
                $($mutable)? this: Self,
                to_part: impl FnOnce(&$($mutable)? $Value) -> &$($mutable)? P,
            ) -> $Mapped<$($arg,)* P> {
                let part = to_part(&$($mutable)? *this).into();
                let hold = this.hold;
                let $lock = Self::forget(this);
                $Mapped { lock: $of, hold, part, _part: PhantomData }
            }

            $(#[$filter_docs])*
            ///
            /// # Errors
            /// Returns this guard if `to_part` returned `None`.
            #[doc(alias = "try_map")]
            pub fn filter_map<P: ?Sized>(
                this: Self,
                to_part: impl FnOnce(&$($mutable)? $Value) -> Option<&$($mutable)? P>,
            ) -> Result<$Mapped<$($arg,)* P>, Self> {
                Self::try_map_or_err(this, |value| to_part(value).ok_or(())).map_err(|(this, ())| this)
            }

            $(#[$try_docs])*
            ///
            /// # Errors
            /// Returns this guard and the error that `to_part` returned.
            pub fn try_map_or_err<P: ?Sized, E>(
                $($mutable)? this: Self,
                to_part: impl FnOnce(&$($mutable)? $Value) -> Result<&$($mutable)? P, E>,
            ) -> Result<$Mapped<$($arg,)* P>, (Self, E)> {
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

/// These methods for a guard of the whole value.
macro_rules! map {
    (
        [$($generic:tt)+] $Guard:ident[$($arg:tt),*] of $Lock:ident by $acquire:literal -> $Mapped:ident[$($mapped_arg:tt),*],
        $lock:ident => $of:expr; $($mutable:tt)?
    ) => {
        $crate::guards::mapped::map_methods! {
            [$($generic)+] $Guard<$($arg),*>, T -> $Mapped[$($mapped_arg),*], $lock => $of; ($($mutable)?);
            /// Returns a guard of a part of the value. The lock stays held until that guard is dropped.
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
            map;
            /// Returns a guard of a part of the value if `to_part` returns one, like [`map`](Self::map).
            filter_map;
            /// Returns a guard of a part of the value if `to_part` returns one, and its error otherwise, like [`map`](Self::map).
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
            try_map_or_err;
        }
    };
}

/// A guard of a part of the value, which accesses it as a `$Like` would, and leads to the raw lock by `$raw`.
macro_rules! mapped {
    (
        $(#[$docs:meta])*
        [$($generic:tt)*] $Mapped:ident[$($arg:tt),*]: $Shared:ty, as if $Like:ty,
        $release:ident, $release_fair:ident, $lock:ident => $raw:expr; $($mutable:tt)?
    ) => {
        $(#[$docs])*
        #[clippy::has_significant_drop]
        pub struct $Mapped<$($generic)* U: ?Sized> {
            lock: $Shared,
            hold: HoldId,
            part: NonNull<U>,
            _part: PhantomData<$Like>,
        }

        $crate::guards::mapped::map_methods! {
            [$($generic)* U: ?Sized] $Mapped<$($arg,)* U>, U -> $Mapped[$($arg),*], lock => lock; ($($mutable)?);
            /// Returns a guard of a smaller part of the value. The lock stays held until that guard is dropped.
            ///
            /// If `to_part` panics, the lock is released.
            map;
            /// Returns a guard of a smaller part of the value if `to_part` returns one, like [`map`](Self::map).
            filter_map;
            /// Returns a guard of a smaller part of the value if `to_part` returns one, and its error otherwise, like [`map`](Self::map).
            try_map_or_err;
        }

        impl<$($generic)* U: ?Sized> $Mapped<$($arg,)* U> {
            /// Releases the lock and reserves it for the queued waiters, like the `unlock_fair` of a guard of the whole value.
            #[doc(alias("drop_fair", "release_fair"))]
            pub fn unlock_fair(this: Self) {
                let hold = this.hold;
                let $lock = &Self::forget(this);
                $raw.$release_fair(hold);
            }

            /// The lock, still held.
            fn forget(this: Self) -> $Shared {
                let this = ManuallyDrop::new(this);
                // SAFETY: `this` is neither dropped nor read again, so what it held goes to the caller (invariant 1).
                unsafe { ptr::read(&this.lock) }
            }
        }

        impl<$($generic)* U: ?Sized> Drop for $Mapped<$($arg,)* U> {
            #[inline]
            fn drop(&mut self) {
                let $lock = &self.lock;
                $raw.$release(self.hold);
            }
        }

        impl<$($generic)* U: ?Sized> Deref for $Mapped<$($arg,)* U> {
            type Target = U;

            #[inline]
            fn deref(&self) -> &U {
                // SAFETY: the part was borrowed from a guard that is forgotten for this one (invariant 1), which is borrowed. The value has
                // not moved, and nothing writes to it (invariants 2 and 3).
                unsafe { self.part.as_ref() }
            }
        }

        $crate::guards::whole::shows_its_value! { [$($generic)* U: ?Sized] $Mapped<$($arg,)* U>: U }
    };
}

pub(crate) use {map, map_methods, mapped};
