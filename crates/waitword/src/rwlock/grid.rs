//! The methods that acquire: the same grid for each of the three modes, with guards that borrow and that own.

use std::sync::Arc;

use waitword_core::observe::Caller;

use crate::acquire;
use crate::acquire::grid::{blocking_until, grid};
use crate::error::LockError;
use crate::raw_rwlock::Mode;
use crate::rwlock::RwLock;
use crate::rwlock::guard::{
    OwnedRwLockReadGuard, OwnedRwLockUpgradableReadGuard, OwnedRwLockWriteGuard, RwLockRead, RwLockReadGuard,
    RwLockUpgradableRead, RwLockUpgradableReadGuard, RwLockWrite, RwLockWriteGuard,
};

/// Both grids of a mode.
macro_rules! mode {
    (
        $title:literal, $what:literal, $try_what:literal, $until_when:literal, $mode:expr, $Future:ident, $Guard:ident, $OwnedGuard:ident;
        $plain:ident($($plain_alias:literal),+), $try:ident, $async:ident($async_alias:literal),
        $for:ident($for_alias:literal), $until:ident($until_alias:literal),
        $owned:ident($owned_alias:literal), $try_owned:ident, $owned_async:ident;
    ) => {
        #[doc = concat!("# ", $title)]
        impl<T: ?Sized> RwLock<T> {
            grid! {
                self: &Self;
                // SAFETY: acquired just now, for this guard alone (invariant 1).
                $mode => |hold| unsafe { $Guard::new(self, hold) }, "LockError", "", "";
                #[doc = concat!($what, ", blocking this thread while ", $until_when, ".")]
                ///
                /// ```
                #[doc = concat!("let lock = waitword::RwLock::new(1);\nassert_eq!(*lock.", stringify!($plain), "(), 1);")]
                /// ```
                ///
                /// # Deadlocks
                /// See [recursion](Self#recursion).
                #[doc(alias($($plain_alias),+))]
                $plain -> $Guard<'_, T>;
                #[doc = concat!($try_what, " without waiting. `None` also while the lock is reserved for a waiter.")]
                #[must_use = "dropping the guard releases the lock"]
                $try -> Option<$Guard<'_, T>>;
                #[doc = concat!($what, ", without blocking this thread: the task waits while ", $until_when, ".")]
                ///
                /// ```
                /// # smol::block_on(async {
                #[doc = concat!("let lock = waitword::RwLock::new(1);\nassert_eq!(*lock.", stringify!($async), "().await, 1);")]
                /// # });
                /// ```
                ///
                #[doc = concat!("With a timeout: [`", stringify!($Future), "::timeout`].")]
                #[doc(alias = $async_alias)]
                $async -> $Future<&Self> = $Future(self);
            }

            blocking_until! {
                // SAFETY: as above.
                self: $mode => |hold| unsafe { $Guard::new(self, hold) }, "LockError", ""; $plain;
                #[doc(alias = $for_alias)]
                $for -> Result<$Guard<'_, T>, LockError>;
                #[doc(alias = $until_alias)]
                $until;
            }

            grid! {
                self: &Arc<Self>;
                // SAFETY: acquired just now, for this guard alone (invariant 1).
                $mode => |hold| unsafe { $OwnedGuard::new(Arc::clone(self), hold) }, "LockError", "", "";
                #[doc = concat!("As [`", stringify!($plain), "`](Self::", stringify!($plain), "), with a guard that holds an `Arc` of the lock.")]
                #[doc(alias = $owned_alias)]
                $owned -> $OwnedGuard<T>;
                #[doc = concat!("As [`", stringify!($try), "`](Self::", stringify!($try), "), with a guard that holds an `Arc` of the lock.")]
                #[must_use = "dropping the guard releases the lock"]
                $try_owned -> Option<$OwnedGuard<T>>;
                #[doc = concat!(
                    "As [`", stringify!($async), "`](Self::", stringify!($async), "), with a future and a guard that hold an `Arc` of the lock."
                )]
                $owned_async -> $Future<Arc<Self>> = $Future(Arc::clone(self));
            }
        }
    };
}

mode! {
    "Shared access", "Acquires shared access", "Attempts to acquire shared access", "a writer holds the lock or an earlier waiter is queued",
    Mode::Read, RwLockRead, RwLockReadGuard, OwnedRwLockReadGuard;
    read("blocking_read", "read_blocking", "lock_shared", "pthread_rwlock_rdlock"), try_read, read_async("async_read"),
    read_for("try_read_for"), read_until("try_read_until"),
    read_owned("read_arc"), try_read_owned, read_owned_async;
}

impl<T: ?Sized> RwLock<T> {
    /// Acquires shared access past queued writers, blocking this thread only while a writer holds the lock.
    ///
    /// For a function that may be called with or without a guard of this lock on the same thread: [`read`](Self::read) could wait behind a
    /// writer, and the writer for the guard. This never waits while the thread reads already: then no writer holds the lock.
    ///
    /// ```
    /// let lock = waitword::RwLock::new(1);
    /// let outer = lock.read();
    /// // Somewhere inside; perhaps a writer is queued.
    /// assert_eq!(*outer, *lock.read_recursive());
    /// ```
    ///
    /// # Fairness
    /// None: while such reads overlap, writers starve. Once it waits, behind a writer that holds the lock, it is queued like any reader.
    ///
    /// # Deadlocks
    /// If this thread has a guard for writing, or has begun an upgrade, it waits for itself.
    ///
    /// # Panics
    /// If a writer holds the lock and this thread must not block ([`forbid_blocking`](crate::forbid_blocking)): use
    /// [`read_async`](Self::read_async) there, or [`try_read_recursive`](Self::try_read_recursive).
    #[doc(alias("recursive_read", "lock_shared_recursive"))]
    #[track_caller]
    pub fn read_recursive(&self) -> RwLockReadGuard<'_, T> {
        // If the attempt fails, a writer holds the lock, so this thread has no guard that a queued writer could wait for.
        match self.try_read_recursive() {
            Some(guard) => guard,
            None => self.read(),
        }
    }

    /// Attempts to acquire shared access past queued writers, without waiting; also while an upgrade waits for other readers to leave.
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
    #[must_use = "dropping the guard releases the lock"]
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

mode! {
    "Exclusive access", "Acquires exclusive access", "Attempts to acquire exclusive access", "there is another holder, or an earlier waiter is queued",
    Mode::Write, RwLockWrite, RwLockWriteGuard, OwnedRwLockWriteGuard;
    write("blocking_write", "write_blocking", "lock_exclusive", "pthread_rwlock_wrlock"), try_write, write_async("async_write"),
    write_for("try_write_for"), write_until("try_write_until"),
    write_owned("write_arc"), try_write_owned, write_owned_async;
}

mode! {
    "Upgradable shared access", "Acquires the upgradable read lock", "Attempts to acquire the upgradable read lock",
    "a writer or another upgradable reader holds the lock, or an earlier waiter is queued",
    Mode::Upgradable, RwLockUpgradableRead, RwLockUpgradableReadGuard, OwnedRwLockUpgradableReadGuard;
    upgradable_read("upgradeable_read", "lock_upgradable", "upgradable_read_blocking"), try_upgradable_read,
    upgradable_read_async("upgradeable_read_async"),
    upgradable_read_for("try_upgradable_read_for"), upgradable_read_until("try_upgradable_read_until"),
    upgradable_read_owned("upgradable_read_arc"), try_upgradable_read_owned, upgradable_read_owned_async;
}
