//! Recursive shared acquisitions, by a thread that already holds the lock shared. Only `lock_api` 0.4 has traits for them.

use std::time::{Duration, Instant};

use lock_api::{RawRwLockRecursive as _, RawRwLockTimed as _};

use crate::raw::raw_traits;
use crate::raw_rwlock::RawRwLock;

raw_traits! {
    RawRwLock, ();
    RawRwLockRecursive { [] acquires lock_shared_recursive() -> (); acquires try_lock_shared_recursive() -> bool; }
}

// SAFETY: success means that the lock was acquired. The first attempt succeeds while any reader holds the lock. So a caller that has to wait holds
// no shared access, and cannot wait for itself.
unsafe impl lock_api::RawRwLockRecursiveTimed for RawRwLock {
    #[track_caller]
    fn try_lock_shared_recursive_for(&self, timeout: Duration) -> bool {
        self.try_lock_shared_recursive() || self.try_lock_shared_for(timeout)
    }

    #[track_caller]
    fn try_lock_shared_recursive_until(&self, deadline: Instant) -> bool {
        self.try_lock_shared_recursive() || self.try_lock_shared_until(deadline)
    }
}
