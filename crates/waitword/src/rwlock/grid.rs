//! The methods that acquire: the same grid for each of the three modes, with guards that borrow and that own.

use std::sync::Arc;

use waitword_core::observe::Caller;

use crate::acquire;
use crate::acquire::grid::grid;
use crate::error::LockError;
use crate::raw_rwlock::Mode;
use crate::rwlock::RwLock;
use crate::rwlock::guard::{
    OwnedRwLockReadGuard, OwnedRwLockUpgradableReadGuard, OwnedRwLockWriteGuard, RwLockRead, RwLockReadGuard,
    RwLockReadOwned, RwLockReadOwnedUntil, RwLockReadUntil, RwLockUpgradableRead, RwLockUpgradableReadGuard,
    RwLockUpgradableReadOwned, RwLockUpgradableReadOwnedUntil, RwLockUpgradableReadUntil, RwLockWrite,
    RwLockWriteGuard, RwLockWriteOwned, RwLockWriteOwnedUntil, RwLockWriteUntil,
};

/// Both grids of a mode.
macro_rules! mode {
    (
        $title:literal, $what:literal, $until_when:literal, $mode:expr, $Guard:ident, $OwnedGuard:ident;
        $plain:ident($($plain_alias:literal),+), $try:ident, $for:ident($for_alias:literal), $until:ident($until_alias:literal),
        $async:ident($async_alias:literal) -> $Future:ident, $async_for:ident, $async_until:ident -> $Until:ident;
        $owned:ident($owned_alias:literal), $try_owned:ident, $owned_for:ident, $owned_until:ident,
        $owned_async:ident -> $OwnedFuture:ident, $owned_async_for:ident, $owned_async_until:ident -> $OwnedUntil:ident;
    ) => {
        #[doc = concat!("# ", $title)]
        impl<T: ?Sized> RwLock<T> {
            grid! {
                self: &Self;
                // SAFETY: acquired just now, for this guard alone (invariant 1).
                $mode => |hold| unsafe { $Guard::new(self, hold) }, "LockError", "", "";
                #[doc = concat!($what, ", blocking this thread until ", $until_when, ".")]
                ///
                /// ```
                #[doc = concat!("let lock = waitword::RwLock::new(1);\nassert_eq!(*lock.", stringify!($plain), "(), 1);")]
                /// ```
                ///
                /// # Deadlocks
                /// See [recursion](Self#recursion).
                #[doc(alias($($plain_alias),+))]
                $plain -> $Guard<'_, T>;
                #[doc = concat!($what, " if there is room and no waiter has it reserved. Never waits.")]
                #[must_use = "if it is a guard, the lock is released when that is dropped"]
                $try -> Option<$Guard<'_, T>>;
                #[doc(alias = $for_alias)]
                $for -> Result<$Guard<'_, T>, LockError>;
                #[doc(alias = $until_alias)]
                $until;
                #[doc = concat!($what, " without blocking this thread. The future is ready with the guard when ", $until_when, ".")]
                ///
                /// ```
                /// # smol::block_on(async {
                #[doc = concat!("let lock = waitword::RwLock::new(1);\nassert_eq!(*lock.", stringify!($async), "().await, 1);")]
                /// # });
                /// ```
                #[doc(alias = $async_alias)]
                $async -> $Future<'_, T> = $Future(self);
                $async_for;
                $async_until -> $Until<'_, T>;
            }

            grid! {
                self: &Arc<Self>;
                // SAFETY: acquired just now, for this guard alone (invariant 1).
                $mode => |hold| unsafe { $OwnedGuard::new(Arc::clone(self), hold) }, "LockError", "", "";
                #[doc = concat!("As [`", stringify!($plain), "`](Self::", stringify!($plain), "), with a guard that has a share in the lock.")]
                #[doc(alias = $owned_alias)]
                $owned -> $OwnedGuard<T>;
                #[doc = concat!("As [`", stringify!($try), "`](Self::", stringify!($try), "), with a guard that has a share in the lock.")]
                #[must_use = "if it is a guard, the lock is released when that is dropped"]
                $try_owned -> Option<$OwnedGuard<T>>;
                $owned_for -> Result<$OwnedGuard<T>, LockError>;
                $owned_until;
                #[doc = concat!(
                    "As [`", stringify!($async), "`](Self::", stringify!($async), "), with a guard and a future that have a share in the lock."
                )]
                $owned_async -> $OwnedFuture<T> = $OwnedFuture(Arc::clone(self));
                $owned_async_for;
                $owned_async_until -> $OwnedUntil<T>;
            }
        }
    };
}

mode! {
    "Reading", "Reads, together with others", "nobody writes and nobody before it is queued",
    Mode::Read, RwLockReadGuard, OwnedRwLockReadGuard;
    read("blocking_read", "read_blocking", "lock_shared", "pthread_rwlock_rdlock"), try_read,
    read_for("try_read_for"), read_until("try_read_until"),
    read_async("async_read") -> RwLockRead, read_async_for, read_async_until -> RwLockReadUntil;
    read_owned("read_arc"), try_read_owned, read_owned_for, read_owned_until,
    read_owned_async -> RwLockReadOwned, read_owned_async_for, read_owned_async_until -> RwLockReadOwnedUntil;
}

mode! {
    "Writing", "Has the value alone", "everybody else has left",
    Mode::Write, RwLockWriteGuard, OwnedRwLockWriteGuard;
    write("blocking_write", "write_blocking", "lock_exclusive", "pthread_rwlock_wrlock"), try_write,
    write_for("try_write_for"), write_until("try_write_until"),
    write_async("async_write") -> RwLockWrite, write_async_for, write_async_until -> RwLockWriteUntil;
    write_owned("write_arc"), try_write_owned, write_owned_for, write_owned_until,
    write_owned_async -> RwLockWriteOwned, write_owned_async_for, write_owned_async_until -> RwLockWriteOwnedUntil;
}

mode! {
    "Reading, perhaps to write", "Reads together with others, as the one who may upgrade to writing",
    "nobody writes, nobody else may upgrade, and nobody before it is queued",
    Mode::Upgradable, RwLockUpgradableReadGuard, OwnedRwLockUpgradableReadGuard;
    upgradable_read("upgradeable_read", "lock_upgradable", "upgradable_read_blocking"), try_upgradable_read,
    upgradable_read_for("try_upgradable_read_for"), upgradable_read_until("try_upgradable_read_until"),
    upgradable_read_async("upgradeable_read_async") -> RwLockUpgradableRead,
    upgradable_read_async_for, upgradable_read_async_until -> RwLockUpgradableReadUntil;
    upgradable_read_owned("upgradable_read_arc"), try_upgradable_read_owned,
    upgradable_read_owned_for, upgradable_read_owned_until,
    upgradable_read_owned_async -> RwLockUpgradableReadOwned,
    upgradable_read_owned_async_for, upgradable_read_owned_async_until -> RwLockUpgradableReadOwnedUntil;
}

impl<T: ?Sized> RwLock<T> {
    /// Reads if there is no writer, even if one is queued; also while an upgrade is pending, if there is another reader.
    /// Never waits.
    ///
    /// It always succeeds for a holder that reads already. For others it is not fair: a stream of such reads starves
    /// writers.
    ///
    /// ```
    /// let lock = waitword::RwLock::new(1);
    /// let outer = lock.read();
    /// // Somewhere inside; perhaps a writer is queued.
    /// let inner = lock.try_read_recursive().expect("read already");
    /// assert_eq!(*outer, *inner);
    /// ```
    #[doc(alias("read_recursive", "recursive_read"))]
    #[must_use = "if it is a guard, the lock is released when that is dropped"]
    #[track_caller]
    pub fn try_read_recursive(&self) -> Option<RwLockReadGuard<'_, T>> {
        if !self.raw.read_recursive() {
            return None;
        }
        let hold = acquire::held::held_by_thread(&self.raw, Mode::Read, Caller::here(), true);
        // SAFETY: made only from an acquisition as a reader, for this guard (invariant 1).
        Some(unsafe { RwLockReadGuard::new(self, hold) })
    }
}
