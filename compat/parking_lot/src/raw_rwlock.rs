//! The raw readers-writer lock of `RwLock`, implemented with waitword's.

use std::time::{Duration, Instant};

use crate::raw::raw_traits;
use crate::{Held, Tried, TriedUpgrade, inner, of_this_version};

/// The raw readers-writer lock of [`RwLock`](crate::RwLock), without a value.
pub struct RawRwLock(inner::RawRwLock);

impl RawRwLock {
    #[inline]
    pub(crate) fn inner(&self) -> &inner::RawRwLock {
        &self.0
    }
}

/// Implements the raw traits for a lock whose `inner()` has the methods of waitword's raw readers-writer lock.
macro_rules! raw_rwlock {
    ($Raw:ident, $init:expr; $states:tt; $mutex_types:tt [$($rwlock_types:tt)*] [$($upgrade_types:tt)*]) => {
        raw_traits! {
            $Raw, $states;
            RawRwLock {
                [#[allow(clippy::declare_interior_mutable_const, reason = "the trait wants it")] const INIT: Self = $init; $($rwlock_types)*]
                acquires lock_shared() -> Held;
                acquires try_lock_shared() -> Tried;
                releases unlock_shared by unlock_shared;
                acquires lock_exclusive() -> Held;
                acquires try_lock_exclusive() -> Tried;
                releases unlock_exclusive by unlock_exclusive;
                asks is_locked;
                asks is_locked_exclusive;
            }
            RawRwLockFair {
                []
                releases unlock_shared_fair by unlock_shared_fair;
                releases unlock_exclusive_fair by unlock_exclusive_fair;
                bumps bump_shared;
                bumps bump_exclusive;
            }
            RawRwLockTimed {
                [type Duration = Duration; type Instant = Instant;]
                acquires try_lock_shared_for(timeout: Duration) -> Tried;
                acquires try_lock_shared_until(deadline: Instant) -> Tried;
                acquires try_lock_exclusive_for(timeout: Duration) -> Tried;
                acquires try_lock_exclusive_until(deadline: Instant) -> Tried;
            }
            RawRwLockDowngrade { [] changes downgrade() -> Held; }
            RawRwLockUpgrade {
                [$($upgrade_types)*]
                acquires lock_upgradable() -> Held;
                acquires try_lock_upgradable() -> Tried;
                releases unlock_upgradable by unlock_upgradable;
                changes upgrade() -> Held;
                changes try_upgrade() -> TriedUpgrade;
            }
            RawRwLockUpgradeFair { [] releases unlock_upgradable_fair by unlock_upgradable_fair; bumps bump_upgradable; }
            RawRwLockUpgradeDowngrade { [] changes downgrade_upgradable() -> Held; changes downgrade_to_upgradable() -> Held; }
            RawRwLockUpgradeTimed {
                []
                acquires try_lock_upgradable_for(timeout: Duration) -> Tried;
                acquires try_lock_upgradable_until(deadline: Instant) -> Tried;
                changes try_upgrade_for(timeout: Duration) -> TriedUpgrade;
                changes try_upgrade_until(deadline: Instant) -> TriedUpgrade;
            }
        }
    };
}

macro_rules! implement {
    ($($version:tt)*) => { raw_rwlock! { RawRwLock, Self(inner::RawRwLock::INIT); $($version)* } };
}

of_this_version!(implement);
