//! The raw traits of a readers-writer lock.

use std::{fmt, mem, process};
use waitword_core::time::{Duration, Instant};

use waitword_core::observe::{Caller, WaitsFor};

use crate::acquire::{self, Acquire, OnUnwind};
use crate::handle::has_raw;
use crate::holders::{Change, Hold, awaited, changed, not_kept};
use crate::raw_rwlock::{self, Mode};
use crate::raw_traits::{Outcome, for_each_version, methods};

/// The raw readers-writer lock of [`crate::RwLock`], without a value and without guards, for `lock_api`.
///
/// # Where this thread must not block
/// As with [`RawMutex`](crate::raw_traits::mutex::RawMutex). `upgrade` panics and drops its guard. `with_upgraded` panics and leaves its guard
/// unchanged; with `lock_api` 0.5 it aborts.
pub struct RawRwLock {
    raw: raw_rwlock::RawRwLock,
}

has_raw!(RawRwLock, raw_rwlock::RawRwLock);

impl RawRwLock {
    #[inline]
    #[track_caller]
    fn acquire(&self, mode: Mode, instead: &'static str, may_unwind: bool) {
        let no_guard_without_lock = (!may_unwind).then(|| OnUnwind(|| process::abort()));
        let Ok(_) = acquire::block::acquire(self, move || mode, move || instead);
        mem::forget(no_guard_without_lock);
        if upgraded(&self.raw, mode) {
            awaited(self.raw.held_at(), WaitsFor::Upgrade, Caller::here(), None);
        }
    }

    #[inline]
    #[track_caller]
    fn acquire_for(&self, mode: Mode, timeout: Duration) -> bool {
        self.acquire_until(mode, || Instant::now().checked_add(timeout))
    }

    #[inline]
    #[track_caller]
    fn acquire_until(&self, mode: Mode, deadline: impl FnOnce() -> Option<Instant>) -> bool {
        let is_taken = acquire::block::acquire_until(self, move || mode, deadline).is_ok();
        if is_taken {
            upgraded(&self.raw, mode);
        }
        is_taken
    }
}

/// Turns the record of the upgradable read, if there is one, into that of a writer.
fn upgraded(raw: &raw_rwlock::RawRwLock, mode: Mode) -> bool {
    mode == Mode::Upgrade
        && changed(raw.held_at(), Hold::UpgradableRead, not_kept(), Change::To(Hold::Write)).is_some()
}

/// Shows whether the lock is held at this moment.
impl fmt::Debug for RawRwLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawRwLock").field("locked", &self.raw.is_held()).finish()
    }
}

macro_rules! implement {
    (
        $api:ident: $Held:ty, $Tried:ty, $TriedUpgrade:ty; ($($Guard:ty)?); $may_unwind:literal;
        [$($of_mutex:ident)*] [$($state:ident)*] [$($of_upgrade:ident)*]
    ) => {
        // SAFETY: the holders are one writer, or readers, at most one of which is upgradable, until they release the lock; any thread
        // may release it, with a state that is empty. What is said of `RawMutex` holds here: no release unwinds, and what acquires unwinds
        // without a new hold, or aborts.
        unsafe impl ::$api::RawRwLock for RawRwLock {
            #[allow(clippy::declare_interior_mutable_const, reason = "the trait wants a value to begin with")]
            const INIT: Self = Self { raw: raw_rwlock::RawRwLock::new() };

            $(type $state = ::$api::GuardSend;)*

            methods! {
                self, ($($Guard)?);
                always lock_shared() -> $Held { self.acquire(Mode::Read, "RwLock::read_async", $may_unwind) }
                may try_lock_shared() -> $Tried { acquire::held::try_take(&self.raw, Mode::Read).is_some() }
                release unlock_shared() { self.raw.release_read(not_kept()) }
                always lock_exclusive() -> $Held { self.acquire(Mode::Write, "RwLock::write_async", $may_unwind) }
                may try_lock_exclusive() -> $Tried { acquire::held::try_take(&self.raw, Mode::Write).is_some() }
                release unlock_exclusive() { self.raw.release_write(not_kept()) }
            }

            #[inline]
            fn is_locked(&self) -> bool {
                self.raw.is_held()
            }

            #[inline]
            fn is_locked_exclusive(&self) -> bool {
                self.raw.is_written()
            }
        }

        // SAFETY: a fair release is a release, which reserves the lock for the present waiters, and does not unwind either. A bump ends
        // with the lock held in the same mode; why it does not unwind is said of `RawMutex`.
        unsafe impl ::$api::RawRwLockFair for RawRwLock {
            methods! {
                self, ($($Guard)?);
                release unlock_shared_fair() { self.raw.release_read_fair(not_kept()) }
                release unlock_exclusive_fair() { self.raw.release_write_fair(not_kept()) }
                bump bump_shared() { self.raw.bump(Mode::Read, &mut { not_kept() }, None) }
                bump bump_exclusive() { self.raw.bump(Mode::Write, &mut { not_kept() }, None) }
            }
        }

        // SAFETY: as for `RawRwLockFair`, for the upgradable reader.
        unsafe impl ::$api::RawRwLockUpgradeFair for RawRwLock {
            methods! {
                self, ($($Guard)?);
                release unlock_upgradable_fair() { self.raw.release_upgradable_fair(not_kept()) }
                bump bump_upgradable() { self.raw.bump(Mode::Upgradable, &mut { not_kept() }, None) }
            }
        }

        // SAFETY: the writer becomes a reader, and no other writer gets the lock in between. Nothing of that unwinds: `lock_api` 0.4 still
        // has the writer's guard, whose drop would release what it does not hold, and in 0.5 nobody would hold the lock.
        unsafe impl ::$api::RawRwLockDowngrade for RawRwLock {
            methods! { self, ($($Guard)?); unsafe always downgrade() -> $Held { self.raw.downgrade(not_kept()) } }
        }

        // SAFETY: success means that the lock was acquired, in the mode of the method.
        unsafe impl ::$api::RawRwLockTimed for RawRwLock {
            type Duration = Duration;
            type Instant = Instant;

            methods! {
                self, ();
                may try_lock_shared_for(timeout: Duration) -> $Tried { self.acquire_for(Mode::Read, timeout) }
                may try_lock_shared_until(deadline: Instant) -> $Tried {
                    self.acquire_until(Mode::Read, || Some(deadline))
                }
                may try_lock_exclusive_for(timeout: Duration) -> $Tried { self.acquire_for(Mode::Write, timeout) }
                may try_lock_exclusive_until(deadline: Instant) -> $Tried {
                    self.acquire_until(Mode::Write, || Some(deadline))
                }
            }
        }

        // SAFETY: there is at most one upgradable reader, and it is the only holder after the upgrade. An upgrade that unwinds leaves the
        // lock held by the upgradable reader, whose guard `lock_api` 0.4 still has. In 0.5 that hold has ended, with its state: it is
        // released here.
        unsafe impl ::$api::RawRwLockUpgrade for RawRwLock {
            $(type $of_upgrade = ::$api::GuardSend;)*

            methods! {
                self, ($($Guard)?);
                always lock_upgradable() -> $Held {
                    self.acquire(Mode::Upgradable, "RwLock::upgradable_read_async", $may_unwind)
                }
                may try_lock_upgradable() -> $Tried { acquire::held::try_take(&self.raw, Mode::Upgradable).is_some() }
                release unlock_upgradable() { self.raw.release_upgradable(not_kept()) }
                unsafe always upgrade() -> $Held {{
                    let state_is_consumed = $may_unwind.then(|| OnUnwind(|| self.raw.release_upgradable(not_kept())));
                    self.acquire(Mode::Upgrade, "RwLockUpgradableReadGuard::upgrade_async", true);
                    mem::forget(state_is_consumed);
                }}
                unsafe may try_upgrade() -> $TriedUpgrade {{
                    let is_taken = acquire::attempts::take(&self.raw, Mode::Upgrade);
                    if is_taken {
                        upgraded(&self.raw, Mode::Upgrade);
                    }
                    is_taken
                }}
            }
        }

        // SAFETY: the holder changes its mode, and no other writer gets the lock in between. As with `downgrade`, nothing unwinds: there is
        // room for one more reader, whatever others have leaked (`Mode::enter`).
        unsafe impl ::$api::RawRwLockUpgradeDowngrade for RawRwLock {
            methods! {
                self, ($($Guard)?);
                unsafe always downgrade_upgradable() -> $Held { self.raw.downgrade_upgradable(not_kept()) }
                unsafe always downgrade_to_upgradable() -> $Held { self.raw.downgrade_to_upgradable(not_kept()) }
            }
        }

        // SAFETY: success means that the lock was acquired, or upgraded.
        unsafe impl ::$api::RawRwLockUpgradeTimed for RawRwLock {
            methods! {
                self, ($($Guard)?);
                may try_lock_upgradable_for(timeout: Duration) -> $Tried { self.acquire_for(Mode::Upgradable, timeout) }
                may try_lock_upgradable_until(deadline: Instant) -> $Tried {
                    self.acquire_until(Mode::Upgradable, || Some(deadline))
                }
                unsafe may try_upgrade_for(timeout: Duration) -> $TriedUpgrade {
                    self.acquire_for(Mode::Upgrade, timeout)
                }
                unsafe may try_upgrade_until(deadline: Instant) -> $TriedUpgrade {
                    self.acquire_until(Mode::Upgrade, || Some(deadline))
                }
            }
        }
    };
}

for_each_version!(implement);

// SAFETY: a recursive read is a read. It succeeds at once while there is a reader, so an acquirer that waits here does not read.
#[cfg(feature = "lock_api")]
unsafe impl ::lock_api::RawRwLockRecursive for RawRwLock {
    #[inline]
    #[track_caller]
    fn lock_shared_recursive(&self) {
        if !self.try_lock_shared_recursive() {
            self.acquire(Mode::Read, "RwLock::read_async", false);
        }
    }

    #[inline]
    #[track_caller]
    fn try_lock_shared_recursive(&self) -> bool {
        let is_taken = self.raw.read_recursive();
        if is_taken {
            acquire::held::held_by_thread(&self.raw, Mode::Read, Caller::here(), true);
        }
        is_taken
    }
}
