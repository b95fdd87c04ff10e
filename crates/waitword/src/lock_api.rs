//! The raw traits of `lock_api` 0.4, so that its guards, and what others have built on them, can be had with these locks.
//!
//! What `lock_api` has no traits for is missing there: tasks. Whoever has some uses [`crate::Mutex`] and [`crate::RwLock`].
//!
//! ```
//! use waitword::lock_api::Mutex;
//!
//! static NAMES: Mutex<Vec<&str>> = Mutex::new(Vec::new());
//! NAMES.lock().push("Ada");
//! ```

use std::fmt;
use std::time::{Duration, Instant};

use ::lock_api::{
    GuardSend, RawMutexFair, RawMutexTimed, RawRwLockDowngrade, RawRwLockRecursive, RawRwLockTimed,
    RawRwLockUpgrade, RawRwLockUpgradeDowngrade, RawRwLockUpgradeTimed,
};

use crate::acquire::{self, Acquire};
use crate::raw_mutex;
use crate::raw_rwlock::{self, Mode};

/// A mutex of `lock_api` on [`RawMutex`].
pub type Mutex<T> = ::lock_api::Mutex<RawMutex, T>;

/// The word of [`crate::Mutex`], without a value and without guards.
///
/// # Panics
/// As [`crate::Mutex::lock`]: `lock` does, where it would have to wait on a thread that must not block. The timed forms
/// return `false` there at once.
pub struct RawMutex(raw_mutex::RawMutex);

/// Shows whether it is held at this moment.
impl fmt::Debug for RawMutex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawMutex").field("locked", &self.0.is_locked()).finish()
    }
}

// SAFETY: the word is locked by one at a time, until that one releases it; any thread may.
unsafe impl ::lock_api::RawMutex for RawMutex {
    #[allow(clippy::declare_interior_mutable_const, reason = "the trait wants a value to begin with")]
    const INIT: Self = Self(raw_mutex::RawMutex::new());

    type GuardMarker = GuardSend;

    #[inline]
    #[track_caller]
    fn lock(&self) {
        if !self.0.take(()) {
            acquire::block(&self.0, (), "Mutex::lock_async");
        }
    }

    #[inline]
    fn try_lock(&self) -> bool {
        acquire::try_take(&self.0, ())
    }

    #[inline]
    unsafe fn unlock(&self) {
        self.0.release();
    }

    #[inline]
    fn is_locked(&self) -> bool {
        self.0.is_locked()
    }
}

// SAFETY: as above; it is for those in line then.
unsafe impl RawMutexFair for RawMutex {
    #[inline]
    unsafe fn unlock_fair(&self) {
        self.0.release_fair();
    }
}

// SAFETY: as above; `true` means that it was acquired.
unsafe impl RawMutexTimed for RawMutex {
    type Duration = Duration;
    type Instant = Instant;

    #[inline]
    fn try_lock_for(&self, timeout: Duration) -> bool {
        self.0.take(()) || acquire::block_until(&self.0, (), Instant::now().checked_add(timeout)).is_ok()
    }

    #[inline]
    fn try_lock_until(&self, deadline: Instant) -> bool {
        self.0.take(()) || acquire::block_until(&self.0, (), Some(deadline)).is_ok()
    }
}

/// A readers-writer lock of `lock_api` on [`RawRwLock`].
pub type RwLock<T> = ::lock_api::RwLock<RawRwLock, T>;

/// The words of [`crate::RwLock`], without a value and without guards.
///
/// # Panics
/// As the blocking methods of [`crate::RwLock`], where they would have to wait on a thread that must not block. The timed
/// forms return `false` there at once.
pub struct RawRwLock(raw_rwlock::RawRwLock);

impl RawRwLock {
    #[inline]
    #[track_caller]
    fn acquire(&self, mode: Mode, instead: &str) {
        if !self.0.take(mode) {
            acquire::block(&self.0, mode, instead);
        }
    }

    #[inline]
    fn acquire_until(&self, mode: Mode, deadline: impl FnOnce() -> Option<Instant>) -> bool {
        self.0.take(mode) || acquire::block_until(&self.0, mode, deadline()).is_ok()
    }
}

/// Shows whether it is held at this moment.
impl fmt::Debug for RawRwLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawRwLock").field("locked", &self.0.is_held()).finish()
    }
}

// SAFETY: it is held by writers one at a time, or by readers, of which one may be upgradable, until they release it; any
// thread may.
unsafe impl ::lock_api::RawRwLock for RawRwLock {
    #[allow(clippy::declare_interior_mutable_const, reason = "the trait wants a value to begin with")]
    const INIT: Self = Self(raw_rwlock::RawRwLock::new());

    type GuardMarker = GuardSend;

    #[inline]
    #[track_caller]
    fn lock_shared(&self) {
        self.acquire(Mode::Read, "RwLock::read_async");
    }

    #[inline]
    fn try_lock_shared(&self) -> bool {
        acquire::try_take(&self.0, Mode::Read)
    }

    #[inline]
    unsafe fn unlock_shared(&self) {
        self.0.release_read();
    }

    #[inline]
    #[track_caller]
    fn lock_exclusive(&self) {
        self.acquire(Mode::Write, "RwLock::write_async");
    }

    #[inline]
    fn try_lock_exclusive(&self) -> bool {
        acquire::try_take(&self.0, Mode::Write)
    }

    #[inline]
    unsafe fn unlock_exclusive(&self) {
        self.0.release_write();
    }

    #[inline]
    fn is_locked(&self) -> bool {
        self.0.is_held()
    }

    #[inline]
    fn is_locked_exclusive(&self) -> bool {
        self.0.is_written()
    }
}

// SAFETY: as above; who reads already always succeeds at once, so whoever waits here does not read.
unsafe impl RawRwLockRecursive for RawRwLock {
    #[inline]
    #[track_caller]
    fn lock_shared_recursive(&self) {
        if !self.0.read_recursive() {
            self.acquire(Mode::Read, "RwLock::read_async");
        }
    }

    #[inline]
    fn try_lock_shared_recursive(&self) -> bool {
        self.0.read_recursive()
    }
}

// SAFETY: as above; nobody writes in between.
unsafe impl RawRwLockDowngrade for RawRwLock {
    #[inline]
    unsafe fn downgrade(&self) {
        self.0.downgrade();
    }
}

// SAFETY: as above; `true` means that it was acquired.
unsafe impl RawRwLockTimed for RawRwLock {
    type Duration = Duration;
    type Instant = Instant;

    #[inline]
    fn try_lock_shared_for(&self, timeout: Duration) -> bool {
        self.acquire_until(Mode::Read, || Instant::now().checked_add(timeout))
    }

    #[inline]
    fn try_lock_shared_until(&self, deadline: Instant) -> bool {
        self.acquire_until(Mode::Read, || Some(deadline))
    }

    #[inline]
    fn try_lock_exclusive_for(&self, timeout: Duration) -> bool {
        self.acquire_until(Mode::Write, || Instant::now().checked_add(timeout))
    }

    #[inline]
    fn try_lock_exclusive_until(&self, deadline: Instant) -> bool {
        self.acquire_until(Mode::Write, || Some(deadline))
    }
}

// SAFETY: as above; who has it upgradable is the only one, and alone after the upgrade.
unsafe impl RawRwLockUpgrade for RawRwLock {
    #[inline]
    #[track_caller]
    fn lock_upgradable(&self) {
        self.acquire(Mode::Upgradable, "RwLock::upgradable_read_async");
    }

    #[inline]
    fn try_lock_upgradable(&self) -> bool {
        acquire::try_take(&self.0, Mode::Upgradable)
    }

    #[inline]
    unsafe fn unlock_upgradable(&self) {
        self.0.release_upgradable();
    }

    #[inline]
    #[track_caller]
    unsafe fn upgrade(&self) {
        self.acquire(Mode::Upgrade, "RwLockUpgradableReadGuard::upgrade_async");
    }

    #[inline]
    unsafe fn try_upgrade(&self) -> bool {
        self.0.take(Mode::Upgrade)
    }
}

// SAFETY: as above; nobody writes in between.
unsafe impl RawRwLockUpgradeDowngrade for RawRwLock {
    #[inline]
    unsafe fn downgrade_upgradable(&self) {
        self.0.downgrade_upgradable();
    }

    #[inline]
    unsafe fn downgrade_to_upgradable(&self) {
        self.0.downgrade_to_upgradable();
    }
}

// SAFETY: as above; `true` means that it was acquired, or upgraded.
unsafe impl RawRwLockUpgradeTimed for RawRwLock {
    #[inline]
    fn try_lock_upgradable_for(&self, timeout: Duration) -> bool {
        self.acquire_until(Mode::Upgradable, || Instant::now().checked_add(timeout))
    }

    #[inline]
    fn try_lock_upgradable_until(&self, deadline: Instant) -> bool {
        self.acquire_until(Mode::Upgradable, || Some(deadline))
    }

    #[inline]
    unsafe fn try_upgrade_for(&self, timeout: Duration) -> bool {
        self.acquire_until(Mode::Upgrade, || Instant::now().checked_add(timeout))
    }

    #[inline]
    unsafe fn try_upgrade_until(&self, deadline: Instant) -> bool {
        self.acquire_until(Mode::Upgrade, || Some(deadline))
    }
}
