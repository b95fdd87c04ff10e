//! What the raw locks are made with: raw traits whose methods are those of the lock inside, in whichever version of `lock_api` the crate has.
//!
//! The versions differ in a guard state, which 0.5 passes along and 0.4 does not have. The macro `of_this_version` of `lib.rs` gives it, as
//! `(state: GuardMarker)` or `()`. Next is `raw_mutex.rs`.

/// Whether guards can be sent to another thread. The locks inside do not mind.
#[cfg(not(feature = "send_guard"))]
pub(crate) type GuardMarker = lock_api::GuardNoSend;
#[cfg(feature = "send_guard")]
pub(crate) type GuardMarker = lock_api::GuardSend;

/// A guard state, or what a method returns, with that of the lock inside in place of this crate's, or the other way around.
pub(crate) trait Outcome<Other> {
    fn of(other: Other) -> Self;
}

impl<T> Outcome<T> for T {
    #[inline]
    fn of(same: T) -> T {
        same
    }
}

/// Raw traits of a lock, each with its associated types, and the methods that call those of `self.inner()`. Of these, what `acquires` lets the
/// observer start first; `changes` and `releases` are of a holder, with its state; `bumps` borrows that; `asks` does nothing.
macro_rules! raw_traits {
    ($Raw:ident, $states:tt; $($Trait:ident { [$($types:tt)*] $($methods:tt)* })+) => {$(
        // SAFETY: what the methods do is what those of the lock inside do, which keep the same contract, and nothing else reaches that lock.
        unsafe impl lock_api::$Trait for $Raw {
            $($types)*

            $crate::raw::methods! { self, $states; $($methods)* }
        }
    )+};
}

macro_rules! methods {
    ($self:ident, ($($state:ident: $Guard:ty)?);) => {};
    ($self:ident, $states:tt; acquires $name:ident($($arg:ident: $Arg:ty)?) -> $Held:ty; $($rest:tt)*) => {
        #[inline]
        #[track_caller]
        fn $name(&$self $(, $arg: $Arg)?) -> $Held {
            $crate::observe::observe();
            $crate::raw::Outcome::of($self.inner().$name($($arg)?))
        }
        $crate::raw::methods! { $self, $states; $($rest)* }
    };
    ($self:ident, ($($state:ident: $Guard:ty)?); changes $name:ident($($arg:ident: $Arg:ty)?) -> $Held:ty; $($rest:tt)*) => {
        #[inline]
        #[track_caller]
        unsafe fn $name(&$self $(, $state: $Guard)? $(, $arg: $Arg)?) -> $Held {
            // SAFETY: the contract is the caller's.
            $crate::raw::Outcome::of(unsafe { $self.inner().$name($($crate::raw::Outcome::of($state),)? $($arg)?) })
        }
        $crate::raw::methods! { $self, ($($state: $Guard)?); $($rest)* }
    };
    ($self:ident, ($($state:ident: $Guard:ty)?); releases $name:ident by $inner:ident; $($rest:tt)*) => {
        #[inline]
        unsafe fn $name(&$self $(, $state: $Guard)?) {
            // SAFETY: the contract is the caller's.
            unsafe { $self.inner().$inner($($crate::raw::Outcome::of($state))?) }
        }
        $crate::raw::methods! { $self, ($($state: $Guard)?); $($rest)* }
    };
    ($self:ident, ($($state:ident: $Guard:ty)?); bumps $name:ident; $($rest:tt)*) => {
        #[inline]
        #[track_caller]
        unsafe fn $name(&$self $(, $state: &mut $Guard)?) {
            // SAFETY: the contract is the caller's.
            unsafe { $self.inner().$name($(&mut $crate::raw::Outcome::of(std::mem::take($state)))?) }
        }
        $crate::raw::methods! { $self, ($($state: $Guard)?); $($rest)* }
    };
    ($self:ident, $states:tt; asks $name:ident; $($rest:tt)*) => {
        #[inline]
        fn $name(&$self) -> bool {
            $self.inner().$name()
        }
        $crate::raw::methods! { $self, $states; $($rest)* }
    };
}

pub(crate) use {methods, raw_traits};
