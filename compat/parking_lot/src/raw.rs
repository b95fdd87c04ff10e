//! The macros that implement the raw traits of `lock_api`: each method calls that of the inner lock. They work for both versions of `lock_api`.
//!
//! The versions differ in a guard state, which 0.5 passes to the methods and 0.4 does not have. The macro `of_this_version` in `lib.rs` passes it
//! on, as `(state: GuardMarker)` or `()`. Next is `raw_mutex.rs`.

/// Whether guards are `Send`. The inner locks allow both.
#[cfg(not(feature = "send_guard"))]
pub(crate) type GuardMarker = lock_api::GuardNoSend;
#[cfg(feature = "send_guard")]
pub(crate) type GuardMarker = lock_api::GuardSend;

/// Converts a guard state, or the return type of a method, from the inner lock's to this crate's, or the other way around.
pub(crate) trait Outcome<Other> {
    fn of(other: Other) -> Self;
}

impl<T> Outcome<T> for T {
    #[inline]
    fn of(same: T) -> T {
        same
    }
}

/// Implements raw traits for a lock: the associated types of each, and methods that call those of `self.inner()`. There are five kinds:
/// - `acquires`: starts the observer first.
/// - `changes` and `releases`: called by a holder, and take its guard state.
/// - `bumps`: called by a holder, and borrows its guard state.
/// - `asks`: returns a `bool`, and changes nothing.
macro_rules! raw_traits {
    ($Raw:ident, $states:tt; $($Trait:ident { [$($types:tt)*] $($methods:tt)* })+) => {$(
        // SAFETY: the methods do what those of the inner lock do, which fulfil the same contract. Nothing else can reach the inner lock.
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
