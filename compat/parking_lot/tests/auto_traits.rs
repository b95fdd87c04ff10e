//! Which guards are `Send` and `Sync`, and which types are `RefUnwindSafe`. The compiler checks it.

#[path = "../../../crates/waitword-core/tests/common/is.rs"]
mod is;

use std::panic::RefUnwindSafe;

use is::is;
use parking_lot::*;

macro_rules! each {
    ($($Type:ty),+: $Trait:path, $is:expr) => {
        const _: () = { $(assert!(is!($Type: $Trait) == $is, stringify!($Type));)+ };
    };
}

each! {
    MutexGuard<'_, u8>, FairMutexGuard<'_, u8>, RwLockReadGuard<'_, u8>, RwLockWriteGuard<'_, u8>, RwLockUpgradableReadGuard<'_, u8>,
    MappedMutexGuard<'_, u8>, MappedRwLockReadGuard<'_, u8>, MappedRwLockWriteGuard<'_, u8>: Send, cfg!(feature = "send_guard")
}
each! { ReentrantMutexGuard<'_, u8>: Send, false }
each! { MutexGuard<'_, u8>, RwLockReadGuard<'_, u8>, RwLockWriteGuard<'_, u8>: Sync, true }
each! { RawMutex, RawFairMutex, RawRwLock, Once, Condvar: RefUnwindSafe, true }
