//! The guards that release the mutex while something else runs.

use crate::mutex::futures::{MutexLock, MutexLockOwned};
use crate::mutex::guard::MutexGuard;
use crate::mutex::owned::OwnedMutexGuard;
use crate::unlocked::unlocked;

unlocked! {
    MutexGuard<'a, T> of Mutex by "lock", written to by "lock":
    mutex, (), release, release_fair, MutexLock
}

unlocked! {
    OwnedMutexGuard<T> of Mutex by "lock_owned", written to by "lock":
    mutex, (), release, release_fair, MutexLockOwned
}
