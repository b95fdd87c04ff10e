//! The readers-writer lock that lets readers in while others read, although a writer waits.

use std::mem;
use std::ops::Deref;
use std::time::{Duration, Instant};

use lock_api::{GuardSend, RawRwLock as _, RawRwLockFair as _, RawRwLockTimed as _};

use crate::raw::raw_traits;
use crate::{Held, Tried, TriedUpgrade, inner, of_this_version};

/// A lock for many readers or one writer. A thread that reads may read again. A stream of readers starves writers.
pub type RecursiveRwLock<T> = lock_api::RwLock<RawRwLockRecursive, T>;
/// The guard of a reader.
pub type RecursiveRwLockReadGuard<'a, T> = lock_api::RwLockReadGuard<'a, RawRwLockRecursive, T>;
/// The guard of the writer.
pub type RecursiveRwLockWriteGuard<'a, T> = lock_api::RwLockWriteGuard<'a, RawRwLockRecursive, T>;
/// The guard of the reader that may become the writer.
pub type RecursiveRwLockUpgradableReadGuard<'a, T> =
    lock_api::RwLockUpgradableReadGuard<'a, RawRwLockRecursive, T>;
/// The guard of a reader of a part.
pub type MappedRecursiveRwLockReadGuard<'a, T> = lock_api::MappedRwLockReadGuard<'a, RawRwLockRecursive, T>;
/// The guard of the writer of a part.
pub type MappedRecursiveRwLockWriteGuard<'a, T> = lock_api::MappedRwLockWriteGuard<'a, RawRwLockRecursive, T>;

/// The lock of [`RecursiveRwLock`], without a value.
pub struct RawRwLockRecursive(Recursive);

impl RawRwLockRecursive {
    fn inner(&self) -> &Recursive {
        &self.0
    }
}

/// The lock inside, with reads in place of its own that go past a writer that waits.
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

    /// Lets in who waits, if nobody else reads. Perhaps this thread does: then a writer stays out, and this must not wait behind it.
    #[track_caller]
    unsafe fn bump_shared(&self, state: &mut GuardSend) {
        // SAFETY: the contract is the caller's, who holds a read.
        unsafe { self.0.unlock_shared_fair(mem::replace(state, GuardSend::new())) };
        // By 0.4, because that aborts where it cannot read again.
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
