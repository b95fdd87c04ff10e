//! What differs between the versions of `lock_api`.

/// What a method of a raw trait returns if the lock is held as it asks, and if not.
pub(super) trait Outcome {
    fn of(is_held: bool) -> Self;
}

/// Of a method that returns only if it is.
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
pub(super) use for_each_version;
