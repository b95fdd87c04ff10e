//! The API of parking_lot 0.13 over waitword's locks, for `[patch.crates-io]`. What is said of 0.12 in `compat/parking_lot` holds here, whose
//! files this crate shares; and where 0.13 has given up fairness over time, these locks still have it. The oldest Rust is 1.95, as for 0.13.
//! Where waitword forbids blocking, a lock that would have to wait panics; in `unlocked` and `with_upgraded` that aborts the process.
//!
//! The feature `nightly` changes nothing.

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

// What 0.5 of `lock_api` is to the files that 0.12 shares: its twin in waitword, what methods return, the guard state, the associated types.
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

/// Without the feature `send_guard`, where the states of the locks inside are other ones. All are empty.
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
