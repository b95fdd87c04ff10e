//! The raw traits of `lock_api` for our raw parts. Versions 0.4 and 0.5 of it have the same methods, of which those of 0.5 pass a guard
//! state along; so one macro for each lock implements both. (0.4 has recursive reads besides.)
//!
//! 0.5 also says what may unwind: a method that acquires, if its caller then holds nothing. It aborts by itself where a guard would be left
//! without its lock. For 0.4 that is done here.

pub(crate) mod mutex;
pub(crate) mod rwlock;

/// The result of a method of a raw trait: whether the lock is held as asked.
pub(super) trait Outcome {
    fn of(is_held: bool) -> Self;
}

/// For a method that returns only if it is.
impl Outcome for () {
    fn of(_: bool) {}
}

impl Outcome for bool {
    fn of(is_held: bool) -> bool {
        is_held
    }
}

#[cfg(feature = "lock_api_05")]
mod outcomes_05 {
    use lock_api_05::GuardSend;

    impl super::Outcome for GuardSend {
        fn of(_: bool) -> GuardSend {
            GuardSend::new()
        }
    }

    impl super::Outcome for Option<GuardSend> {
        fn of(is_held: bool) -> Self {
            is_held.then(GuardSend::new)
        }
    }

    impl super::Outcome for Result<GuardSend, GuardSend> {
        fn of(is_held: bool) -> Self {
            if is_held { Ok(GuardSend::new()) } else { Err(GuardSend::new()) }
        }
    }
}

/// Calls a macro for each version: its name; what a method returns that acquires, that tries to, and that tries to upgrade; the guard state,
/// if there is one; whether what acquires may unwind; the associated types of the traits for a mutex, a readers-writer lock, and upgrades.
macro_rules! for_each_version {
    ($implement:ident) => {
        #[cfg(feature = "lock_api")]
        $implement! { lock_api: (), bool, bool; (); false; [GuardMarker] [GuardMarker] [] }
        #[cfg(feature = "lock_api_05")]
        $implement! {
            lock_api_05: ::lock_api_05::GuardSend, Option<::lock_api_05::GuardSend>,
                Result<::lock_api_05::GuardSend, ::lock_api_05::GuardSend>;
            (::lock_api_05::GuardSend); true;
            [Guard] [SharedGuard ExclusiveGuard] [UpgradableGuard]
        }
    };
}

/// Methods of a raw trait of which each calls one function. `may` methods return what that says; `always`, that the lock is held; `release`
/// methods return nothing. `unsafe` ones are given the guard state, if there is one.
macro_rules! methods {
    ($self:ident, ($($Guard:ty)?);) => {};
    ($self:ident, ($($Guard:ty)?); always $name:ident() -> $Held:ty { $call:expr } $($rest:tt)*) => {
        #[inline]
        #[track_caller]
        fn $name(&$self) -> $Held {
            $call;
            Outcome::of(true)
        }
        methods! { $self, ($($Guard)?); $($rest)* }
    };
    ($self:ident, ($($Guard:ty)?); may $name:ident($($arg:ident: $Arg:ty)?) -> $Tried:ty { $call:expr } $($rest:tt)*) => {
        #[inline]
        #[track_caller]
        fn $name(&$self $(, $arg: $Arg)?) -> $Tried {
            Outcome::of($call)
        }
        methods! { $self, ($($Guard)?); $($rest)* }
    };
    ($self:ident, ($($Guard:ty)?); unsafe always $name:ident() -> $Held:ty { $call:expr } $($rest:tt)*) => {
        #[inline]
        #[track_caller]
        unsafe fn $name(&$self $(, _: $Guard)?) -> $Held {
            $call;
            Outcome::of(true)
        }
        methods! { $self, ($($Guard)?); $($rest)* }
    };
    ($self:ident, ($($Guard:ty)?); unsafe may $name:ident($($arg:ident: $Arg:ty)?) -> $Tried:ty { $call:expr } $($rest:tt)*) => {
        #[inline]
        #[track_caller]
        unsafe fn $name(&$self $(, _: $Guard)? $(, $arg: $Arg)?) -> $Tried {
            Outcome::of($call)
        }
        methods! { $self, ($($Guard)?); $($rest)* }
    };
    ($self:ident, ($($Guard:ty)?); release $name:ident() { $call:expr } $($rest:tt)*) => {
        #[inline]
        unsafe fn $name(&$self $(, _: $Guard)?) {
            $call;
        }
        methods! { $self, ($($Guard)?); $($rest)* }
    };
    ($self:ident, ($($Guard:ty)?); bump $name:ident() { $call:expr } $($rest:tt)*) => {
        #[inline]
        #[track_caller]
        unsafe fn $name(&$self $(, _: &mut $Guard)?) {
            $call;
        }
        methods! { $self, ($($Guard)?); $($rest)* }
    };
}

pub(super) use {for_each_version, methods};
