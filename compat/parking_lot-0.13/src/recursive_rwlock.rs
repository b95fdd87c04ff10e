//! The recursive readers-writer lock: while others read, readers acquire it although a writer waits.

use std::mem;
use std::ops::Deref;
use std::time::{Duration, Instant};

use lock_api::{GuardSend, RawRwLock as _, RawRwLockFair as _, RawRwLockTimed as _};

use crate::raw::raw_traits;
use crate::{Held, Tried, TriedUpgrade, inner, of_this_version};

/// A readers-writer lock around a value that a thread may acquire shared again while it holds shared access.
///
/// # Fairness
/// While others read, readers acquire the lock although a writer waits. So a stream of readers starves writers.
pub type RecursiveRwLock<T> = lock_api::RwLock<RawRwLockRecursive, T>;
/// The guard of shared access to a [`RecursiveRwLock`]. Dropping it releases the lock.
pub type RecursiveRwLockReadGuard<'a, T> = lock_api::RwLockReadGuard<'a, RawRwLockRecursive, T>;
/// The guard of exclusive access to a [`RecursiveRwLock`]. Dropping it releases the lock.
pub type RecursiveRwLockWriteGuard<'a, T> = lock_api::RwLockWriteGuard<'a, RawRwLockRecursive, T>;
/// The guard of the upgradable read lock of a [`RecursiveRwLock`]: it can be upgraded to exclusive access. Dropping it releases the lock.
pub type RecursiveRwLockUpgradableReadGuard<'a, T> =
    lock_api::RwLockUpgradableReadGuard<'a, RawRwLockRecursive, T>;
/// The guard of shared access to a part of the value in a [`RecursiveRwLock`].
pub type MappedRecursiveRwLockReadGuard<'a, T> = lock_api::MappedRwLockReadGuard<'a, RawRwLockRecursive, T>;
/// The guard of exclusive access to a part of the value in a [`RecursiveRwLock`].
pub type MappedRecursiveRwLockWriteGuard<'a, T> = lock_api::MappedRwLockWriteGuard<'a, RawRwLockRecursive, T>;

/// The raw readers-writer lock of [`RecursiveRwLock`], without a value.
pub struct RawRwLockRecursive(Recursive);

impl RawRwLockRecursive {
    fn inner(&self) -> &Recursive {
        &self.0
    }
}

/// The inner lock. The methods here replace its shared acquisitions by those that pass a waiting writer.
struct Recursive(inner::RawRwLock);

impl Recursive {
    #[track_caller]
    fn try_lock_shared(&self) -> Option<GuardSend> {
        lock_api_04::RawRwLockRecursive::try_lock_shared_recursive(&self.0).then(GuardSend::new)
    }

    #[track_caller]
    fn lock_shared(&self) -> GuardSend {
        self.try_lock_shared().unwrap_or_else(|| self.0.lock_shared())
    }

    /// Releases the lock, so that its waiters acquire it if there is no other reader, and acquires shared access again. The other reader may be
    /// this thread: then no writer can acquire the lock, and this acquisition must not wait behind a writer.
    #[track_caller]
    unsafe fn bump_shared(&self, state: &mut GuardSend) {
        // SAFETY: the contract is the caller's, who holds shared access.
        unsafe { self.0.unlock_shared_fair(mem::replace(state, GuardSend::new())) };
        // The method of `lock_api` 0.4, because it aborts if it cannot acquire shared access again.
        lock_api_04::RawRwLockRecursive::lock_shared_recursive(&self.0);
    }

    #[track_caller]
    fn try_lock_shared_for(&self, timeout: Duration) -> Option<GuardSend> {
        self.try_lock_shared().or_else(|| self.0.try_lock_shared_for(timeout))
    }

    #[track_caller]
    fn try_lock_shared_until(&self, deadline: Instant) -> Option<GuardSend> {
        self.try_lock_shared().or_else(|| self.0.try_lock_shared_until(deadline))
    }
}

impl Deref for Recursive {
    type Target = inner::RawRwLock;

    fn deref(&self) -> &inner::RawRwLock {
        &self.0
    }
}

macro_rules! implement {
    ($($version:tt)*) => { raw_rwlock! { RawRwLockRecursive, Self(Recursive(inner::RawRwLock::INIT)); $($version)* } };
}

of_this_version!(implement);
