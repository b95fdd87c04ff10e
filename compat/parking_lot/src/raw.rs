//! What the raw locks are made with: raw traits whose methods are those of the lock inside, in whichever version of `lock_api` the crate has.
//!
//! The versions differ in a guard state, which 0.5 passes along and 0.4 does not have. The macro `of_this_version` of `lib.rs` gives it, as
//! `(state: GuardSend)` or `()`. Next is `raw_mutex.rs`.

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
            $self.inner().$name($($arg)?)
        }
        $crate::raw::methods! { $self, $states; $($rest)* }
    };
    ($self:ident, ($($state:ident: $Guard:ty)?); changes $name:ident($($arg:ident: $Arg:ty)?) -> $Held:ty; $($rest:tt)*) => {
        #[inline]
        #[track_caller]
        unsafe fn $name(&$self $(, $state: $Guard)? $(, $arg: $Arg)?) -> $Held {
            // SAFETY: the contract is the caller's.
            unsafe { $self.inner().$name($($state,)? $($arg)?) }
        }
        $crate::raw::methods! { $self, ($($state: $Guard)?); $($rest)* }
    };
    ($self:ident, ($($state:ident: $Guard:ty)?); releases $name:ident by $inner:ident; $($rest:tt)*) => {
        #[inline]
        unsafe fn $name(&$self $(, $state: $Guard)?) {
            // SAFETY: the contract is the caller's.
            unsafe { $self.inner().$inner($($state)?) }
        }
        $crate::raw::methods! { $self, ($($state: $Guard)?); $($rest)* }
    };
    ($self:ident, ($($state:ident: $Guard:ty)?); bumps $name:ident; $($rest:tt)*) => {
        #[inline]
        #[track_caller]
        unsafe fn $name(&$self $(, $state: &mut $Guard)?) {
            // SAFETY: the contract is the caller's.
            unsafe { $self.inner().$name($($state)?) }
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
