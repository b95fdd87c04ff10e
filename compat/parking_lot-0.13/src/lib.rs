//! The API of parking_lot 0.13, implemented with waitword's locks, for `[patch.crates-io]`.
//!
//! This crate shares files with the replacement of 0.12, in `compat/parking_lot`. The differences from parking_lot that are listed there hold here
//! too, except these:
//! - **Fairness**: parking_lot 0.13 no longer has eventual fairness. These locks have it.
//! - **Rust version**: 1.95 or later, as for parking_lot 0.13.
//! - **Where waitword forbids blocking** (`waitword::forbid_blocking`): a lock that would block panics. In `unlocked` and `with_upgraded`, that
//!   aborts the process.
//!
//! The feature `nightly` has no effect.

#[cfg(feature = "deadlock_detection")]
#[path = "../../parking_lot/src/deadlock.rs"]
pub mod deadlock;
#[path = "../../parking_lot/src/observe.rs"]
mod observe;
#[path = "../../parking_lot/src/once.rs"]
mod once;
#[path = "../../parking_lot/src/raw.rs"]
mod raw;
mod raw_condvar;
#[path = "../../parking_lot/src/raw_mutex.rs"]
mod raw_mutex;
#[macro_use]
#[path = "../../parking_lot/src/raw_rwlock.rs"]
mod raw_rwlock;
mod recursive_rwlock;
#[path = "../../parking_lot/src/types.rs"]
mod types;

pub use ::lock_api;
pub use ::lock_api::WaitTimeoutResult;
#[cfg(feature = "arc_lock")]
pub use ::lock_api::{
    ArcMutexGuard, ArcReentrantMutexGuard, ArcRwLockReadGuard, ArcRwLockUpgradableReadGuard,
    ArcRwLockWriteGuard,
};
pub use once::{Once, OnceState};
pub use raw_condvar::{Condvar, RawCondvar};
pub use raw_mutex::{RawFairMutex, RawMutex};
pub use raw_rwlock::RawRwLock;
pub use recursive_rwlock::*;
pub use types::*;

// The parameters of the files that this crate shares with 0.12, for `lock_api` 0.5: the module of waitword that implements it, the return types of
// methods, the guard state, and the associated types.
use raw::GuardMarker;
use waitword::lock_api_05 as inner;
type Held = GuardMarker;
type Tried = Option<GuardMarker>;
type TriedUpgrade = Result<GuardMarker, GuardMarker>;
macro_rules! of_this_version {
    ($implement:ident) => {
        $implement! {
            (state: crate::raw::GuardMarker);
            [type Guard = crate::raw::GuardMarker;]
            [type SharedGuard = crate::raw::GuardMarker; type ExclusiveGuard = crate::raw::GuardMarker;]
            [type UpgradableGuard = crate::raw::GuardMarker;]
        }
    };
}
use of_this_version;

/// Conversions of guard states without the feature `send_guard`, where the inner locks have another guard state. All guard states are empty.
#[cfg(not(feature = "send_guard"))]
mod outcomes {
    use lock_api::{GuardNoSend, GuardSend};

    use crate::raw::Outcome;

    impl Outcome<GuardNoSend> for GuardSend {
        fn of(_: GuardNoSend) -> Self {
            Self::new()
        }
    }

    impl Outcome<GuardSend> for GuardNoSend {
        fn of(_: GuardSend) -> Self {
            Self::new()
        }
    }

    impl Outcome<Option<GuardSend>> for Option<GuardNoSend> {
        fn of(tried: Option<GuardSend>) -> Self {
            tried.map(Outcome::of)
        }
    }

    impl Outcome<Result<GuardSend, GuardSend>> for Result<GuardNoSend, GuardNoSend> {
        fn of(tried: Result<GuardSend, GuardSend>) -> Self {
            tried.map(Outcome::of).map_err(Outcome::of)
        }
    }
}
