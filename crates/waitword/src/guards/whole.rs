//! Guards of the whole value.

/// A guard of the whole value, which accesses it as a `$Like` would. `$acquire` is the method that makes it, `$instead` the one for threads
/// that must not block, `$future` the future of that one.
macro_rules! guard {
    (
        $(#[$docs:meta])*
        $Guard:ident<$($life:lifetime,)? T> of $Lock:ident as $Shared:ty, as if $Like:ty, $ask:expr,
        by $acquire:literal or $instead:literal -> $Future:ty, written to by $write:literal,
        $Raw:ident::{$release:ident, $release_fair:ident}, $bump_of_readers:expr $(, sent as $hold:ident)?
    ) => {
        $(#[$docs])*
        #[clippy::has_significant_drop]
        pub struct $Guard<$($life,)? T: ?Sized> {
            pub(super) lock: $Shared,
            pub(crate) hold: HoldId,
            _value: PhantomData<$Like>,
        }

        impl<$($life,)? T: ?Sized> $Guard<$($life,)? T> {
            /// # Safety
            /// The lock was acquired in the mode of this guard, and this is the guard of that acquisition (invariant 1).
            #[inline]
            pub(crate) unsafe fn new(lock: impl Into<$Shared>, hold: HoldId) -> Self {
                let lock: $Shared = lock.into();
                $(changed(lock.raw.held_at(), Hold::$hold, hold, Change::Sent);)?
                Self { lock, hold, _value: PhantomData }
            }

            /// Releases the lock and reserves it for the queued waiters. Without waiters this is an ordinary release.
            ///
            /// No acquirer can barge past the head waiter: new acquirers enqueue behind it. The head waiter has to be woken first,
            /// so this costs a switch of threads or tasks, which an ordinary release may avoid.
            ///
            /// ```
            #[doc = concat!("use waitword::{", stringify!($Lock), ", ", stringify!($Guard), " as Guard};")]
            /// # use std::sync::Arc;
            ///
            #[doc = concat!("let lock = Arc::new(", stringify!($Lock), "::new(1));")]
            #[doc = concat!("let guard = lock.", $acquire, "();")]
            /// // After a long critical section, for which others have waited.
            /// Guard::unlock_fair(guard);
            /// ```
            #[doc(alias("drop_fair", "release_fair"))]
            pub fn unlock_fair(this: Self) {
                let hold = this.hold;
                Self::forget(this).raw.$release_fair(hold);
            }

            /// Releases the lock, which is reserved for the head waiter, and blocks this thread until it has acquired the lock again.
            ///
            /// Other holders may have changed the value in between.
            #[doc = concat!(
                "This is [`unlock_fair`](Self::unlock_fair) followed by [`", $acquire, "`](", stringify!($Lock), "::", $acquire, "),"
            )]
            /// for a holder that needs the lock for long and can release it in between. Without waiters it costs one load, and the
            /// lock is not released.
            ///
            /// ```
            #[doc = concat!("use waitword::{", stringify!($Lock), ", ", stringify!($Guard), " as Guard};")]
            /// # use std::sync::Arc;
            ///
            #[doc = concat!("let numbers = Arc::new(", stringify!($Lock), "::new(vec![3, 1, 2]));")]
            #[doc = concat!("let mut guard = numbers.", $acquire, "();")]
            /// for index in 0..guard.len() {
            ///     println!("{:?}", guard.get(index));
            ///     // Lets a waiter acquire the lock.
            ///     Guard::bump(&mut guard);
            /// }
            /// ```
            ///
            /// # Fairness
            /// No acquirer barges past the head waiter. Then this thread is a new acquirer: it may acquire the lock before or
            /// after the waiters behind the head. A head waiter that is a task and is not polled delays this thread for as long as any
            /// other acquirer ([`STALL_TIMEOUT`](crate::STALL_TIMEOUT)).
            #[doc = $bump_of_readers]
            ///
            #[doc = concat!("In a task, use `unlock_fair` and then [`", $instead, "`](", stringify!($Lock), "::", $instead, ").")]
            ///
            /// # Panics
            /// If there are waiters and this thread must not block ([`forbid_blocking`](crate::forbid_blocking)). It panics before it
            /// releases the lock.
            #[doc(alias("yield_fair", "relock"))]
            #[inline]
            #[track_caller]
            pub fn bump(this: &mut Self) {
                this.lock.raw.bump($ask, &mut this.hold, Some($instead));
            }

            /// The lock, still held.
            #[inline]
            pub(super) fn forget(this: Self) -> $Shared {
                let this = ManuallyDrop::new(this);
                // SAFETY: `this` is neither dropped nor read again, so what it held goes to the caller (invariant 1).
                unsafe { ptr::read(&this.lock) }
            }
        }

        impl<$($life,)? T: ?Sized> Drop for $Guard<$($life,)? T> {
            #[inline]
            fn drop(&mut self) {
                self.lock.raw.$release(self.hold);
            }
        }

        impl<$($life,)? T: ?Sized> Deref for $Guard<$($life,)? T> {
            type Target = T;

            #[inline]
            fn deref(&self) -> &T {
                // SAFETY: while there is this guard, a `&mut` can come only from it, and it is borrowed (invariants 2 and 3).
                unsafe { &*self.lock.value.get() }
            }
        }

        $crate::guards::whole::shows_its_value! { [$($life,)? T: ?Sized] $Guard<$($life,)? T>: T }

        $crate::unlocked::unlocked_methods! {
            $Guard<$($life,)? T> of $Lock by $acquire, written to by $write:
            $ask, $Raw::$release, $Raw::$release_fair, $Future
        }
    };
}

/// Shows the value, or the part of it.
macro_rules! shows_its_value {
    ([$($generic:tt)+] $Guard:ty: $Value:ident) => {
        impl<$($generic)+> std::fmt::Debug for $Guard
        where
            $Value: std::fmt::Debug,
        {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<$($generic)+> std::fmt::Display for $Guard
        where
            $Value: std::fmt::Display,
        {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                (**self).fmt(f)
            }
        }
    };
}

/// Mutable access to the value or to the part of it, for a guard that is the only one.
macro_rules! writes {
    ($([$($generic:tt)+] $Guard:ty: $this:ident => $value:expr;)+) => {$(
        impl<$($generic)+> DerefMut for $Guard {
            #[inline]
            fn deref_mut(&mut self) -> &mut Self::Target {
                let $this = self;
                // SAFETY: as for `deref`; this is the only guard, and it is borrowed mutably (invariants 2 and 3).
                unsafe { $value }
            }
        }
    )+};
}

/// The way back to the lock: not from a guard that is covariant (invariant 4), nor from a borrowed one of a part, which has the word only.
macro_rules! leads_to_its_lock {
    ($lock:ident; $([$($generic:tt)+] $Guard:ty: $this:ident -> $Shared:ty { $show:expr })+) => {$(
        impl<$($generic)+> $Guard {
            /// Returns the lock that this guard belongs to.
            #[doc(alias = "source")]
            pub fn $lock($this: &Self) -> $Shared {
                $show
            }
        }
    )+};
}

/// The end of an owned guard that gives its `Arc` back.
macro_rules! into_arc {
    ($($Guard:ident of $Lock:ident by $acquire:literal: $release:ident, $release_fair:ident;)+) => {$(
        impl<T: ?Sized> $Guard<T> {
            /// Releases the lock and returns the `Arc` of it.
            ///
            /// ```
            #[doc = concat!("use waitword::{", stringify!($Lock), ", ", stringify!($Guard), " as Guard};")]
            /// # use std::sync::Arc;
            ///
            #[doc = concat!("let lock = Guard::into_arc(Arc::new(", stringify!($Lock), "::new(1)).", $acquire, "());")]
            #[doc = concat!("assert_eq!(Arc::into_inner(lock).map(", stringify!($Lock), "::into_inner), Some(1));")]
            /// ```
            pub fn into_arc(this: Self) -> Arc<$Lock<T>> {
                let hold = this.hold;
                let lock = Self::forget(this);
                lock.raw.$release(hold);
                lock
            }

            /// Releases the lock as [`unlock_fair`](Self::unlock_fair) does, and returns the `Arc` of it.
            pub fn into_arc_fair(this: Self) -> Arc<$Lock<T>> {
                let hold = this.hold;
                let lock = Self::forget(this);
                lock.raw.$release_fair(hold);
                lock
            }
        }
    )+};
}

pub(crate) use {guard, into_arc, leads_to_its_lock, shows_its_value, writes};
