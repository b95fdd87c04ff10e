//! The raw traits of a readers-writer lock.

use std::fmt;
use std::time::{Duration, Instant};

use ::lock_api::{
    GuardSend, RawRwLockDowngrade, RawRwLockFair, RawRwLockRecursive, RawRwLockTimed, RawRwLockUpgrade,
    RawRwLockUpgradeDowngrade, RawRwLockUpgradeFair, RawRwLockUpgradeTimed,
};

use crate::acquire::{self, Acquire};
use crate::raw_rwlock::{self, Mode};

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

// SAFETY: as above; it is for the waiters of that moment. A bump ends with the lock in the mode in which it was, also if it unwinds.
unsafe impl RawRwLockFair for RawRwLock {
    #[inline]
    unsafe fn unlock_shared_fair(&self) {
        self.0.release_read_fair();
    }

    #[inline]
    unsafe fn unlock_exclusive_fair(&self) {
        self.0.release_write_fair();
    }

    #[inline]
    #[track_caller]
    unsafe fn bump_shared(&self) {
        self.0.bump(Mode::Read, "RwLock::read_async");
    }

    #[inline]
    #[track_caller]
    unsafe fn bump_exclusive(&self) {
        self.0.bump(Mode::Write, "RwLock::write_async");
    }
}

// SAFETY: as above.
unsafe impl RawRwLockUpgradeFair for RawRwLock {
    #[inline]
    unsafe fn unlock_upgradable_fair(&self) {
        self.0.release_upgradable_fair();
    }

    #[inline]
    #[track_caller]
    unsafe fn bump_upgradable(&self) {
        self.0.bump(Mode::Upgradable, "RwLock::upgradable_read_async");
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
