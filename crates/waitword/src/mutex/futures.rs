//! What the `_async` methods return; and the methods that release the mutex for a while, which end with these futures.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use waitword_core::time::Instant;

use crate::acquire::guard_futures;
use crate::error::LockError;
use crate::mutex::guard::MutexGuard;
use crate::mutex::lock::Mutex;
use crate::mutex::owned::OwnedMutexGuard;
use crate::raw_mutex::RawMutex;
use crate::unlocked::unlocked_methods;

guard_futures! {
    Mutex over RawMutex, () => MutexGuard, OwnedMutexGuard:
    MutexLock("lock_async"), MutexLockUntil("lock_async_until"),
    MutexLockOwned("lock_owned_async"), MutexLockOwnedUntil("lock_owned_async_until")
}

unlocked_methods! {
    MutexGuard<'a, T> of Mutex by "lock", written to by "lock":
    mutex, (), RawMutex::release, RawMutex::release_fair, MutexLock, this keeps &mut this.hold
}

unlocked_methods! {
    OwnedMutexGuard<T> of Mutex by "lock_owned", written to by "lock":
    mutex, (), RawMutex::release, RawMutex::release_fair, MutexLockOwned, this keeps &mut this.hold
}
