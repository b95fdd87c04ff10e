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
        $title:literal, $mode:expr, $Future:ident, $Guard:ident, $OwnedGuard:ident;
        $(#[$plain_docs:meta])* $plain:ident;
        $(#[$try_docs:meta])* $try:ident;
        $(#[$async_docs:meta])* $async:ident;
        $(#[$for_docs:meta])* $for:ident;
        $(#[$until_docs:meta])* $until:ident;
        $(#[$owned_docs:meta])* $owned:ident;
        $(#[$try_owned_docs:meta])* $try_owned:ident;
        $(#[$async_owned_docs:meta])* $owned_async:ident;
    ) => {
        #[doc = $title]
        impl<T: ?Sized> RwLock<T> {
            grid! {
                self: &Self;
                // SAFETY: acquired just now, for this guard alone (invariant 1).
                $mode => |hold| unsafe { $Guard::new(self, hold) }, "LockError", "", "";
                $(#[$plain_docs])*
                ///
                /// ```
                #[doc = concat!("let lock = waitword::RwLock::new(1);\nassert_eq!(*lock.", stringify!($plain), "(), 1);")]
                /// ```
                ///
                /// # Deadlocks
                /// See [recursion](Self#recursion).
                $plain -> $Guard<'_, T>;
                $(#[$try_docs])*
                #[must_use = "dropping the guard releases the lock"]
                $try -> Option<$Guard<'_, T>>;
                $(#[$async_docs])*
                ///
                /// ```
                /// # smol::block_on(async {
                #[doc = concat!("let lock = waitword::RwLock::new(1);\nassert_eq!(*lock.", stringify!($async), "().await, 1);")]
                /// # });
                /// ```
                ///
                #[doc = concat!("With a timeout: [`", stringify!($Future), "::timeout`].")]
                $async -> $Future<&Self> = $Future(self);
            }

            blocking_until! {
                // SAFETY: as above.
                self: $mode => |hold| unsafe { $Guard::new(self, hold) }, "LockError", "";
                $(#[$for_docs])*
                $for -> Result<$Guard<'_, T>, LockError>;
                $(#[$until_docs])*
                $until;
            }

            grid! {
                self: &Arc<Self>;
                // SAFETY: acquired just now, for this guard alone (invariant 1).
                $mode => |hold| unsafe { $OwnedGuard::new(Arc::clone(self), hold) }, "LockError", "", "";
                $(#[$owned_docs])*
                $owned -> $OwnedGuard<T>;
                $(#[$try_owned_docs])*
                #[must_use = "dropping the guard releases the lock"]
                $try_owned -> Option<$OwnedGuard<T>>;
                $(#[$async_owned_docs])*
                $owned_async -> $Future<Arc<Self>> = $Future(Arc::clone(self));
            }
        }
    };
}

mode! {
    "# Shared access", Mode::Read, RwLockRead, RwLockReadGuard, OwnedRwLockReadGuard;
    /// Acquires shared access, blocking this thread while a writer holds the lock or it is reserved for an earlier waiter.
    #[doc(alias("blocking_read", "read_blocking", "lock_shared", "pthread_rwlock_rdlock"))]
    read;
    /// Attempts to acquire shared access without waiting. Returns `None` also while the lock is reserved for a waiter.
    try_read;
    /// Acquires shared access without blocking this thread: the task waits while a writer holds the lock or it is reserved for an earlier
    /// waiter.
    #[doc(alias = "async_read")]
    read_async;
    /// Acquires shared access, blocking this thread for at most `timeout`.
    #[doc(alias = "try_read_for")]
    read_for;
    /// Acquires shared access, blocking this thread until `deadline` at the latest.
    #[doc(alias = "try_read_until")]
    read_until;
    /// Acquires shared access with a guard that holds an `Arc` of the lock, blocking this thread as [`read`](Self::read) does.
    #[doc(alias = "read_arc")]
    read_owned;
    /// Attempts to acquire shared access without waiting, with a guard that holds an `Arc` of the lock.
    try_read_owned;
    /// Acquires shared access without blocking this thread, with a future and a guard that hold an `Arc` of the lock.
    read_owned_async;
}

impl<T: ?Sized> RwLock<T> {
    /// Acquires shared access past queued writers, blocking this thread only while a writer holds the lock.
    ///
    /// For a function that may be called with or without a read guard of this lock on the same thread: [`read`](Self::read) could wait behind
    /// a queued writer, which waits for that guard. This method never waits while the thread holds a read guard, because no writer holds
    /// the lock then.
    ///
    /// ```
    /// let lock = waitword::RwLock::new(1);
    /// let outer = lock.read();
    /// // In a function that is called; a writer may be queued.
    /// assert_eq!(*outer, *lock.read_recursive());
    /// ```
    ///
    /// # Fairness
    /// None: while such reads overlap, writers starve. A call that has to wait for the writer that holds the lock is queued like any reader.
    ///
    /// # Deadlocks
    /// A thread that holds a write guard, or the future of an upgrade that was polled, waits for itself.
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

    /// Attempts to acquire shared access past queued writers and a pending upgrade, without waiting.
    ///
    /// It always succeeds for a holder of a read guard. It is not fair: a stream of such reads starves writers.
    ///
    /// ```
    /// let lock = waitword::RwLock::new(1);
    /// let outer = lock.read();
    /// // In a function that is called; a writer may be queued.
    /// let inner = lock.try_read_recursive().expect("this thread reads");
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
    "# Exclusive access", Mode::Write, RwLockWrite, RwLockWriteGuard, OwnedRwLockWriteGuard;
    /// Acquires exclusive access, blocking this thread while anyone else holds the lock or it is reserved for an earlier waiter.
    #[doc(alias("blocking_write", "write_blocking", "lock_exclusive", "pthread_rwlock_wrlock"))]
    write;
    /// Attempts to acquire exclusive access without waiting. Returns `None` also while the lock is reserved for a waiter.
    try_write;
    /// Acquires exclusive access without blocking this thread: the task waits while anyone else holds the lock or it is reserved for an
    /// earlier waiter.
    #[doc(alias = "async_write")]
    write_async;
    /// Acquires exclusive access, blocking this thread for at most `timeout`.
    #[doc(alias = "try_write_for")]
    write_for;
    /// Acquires exclusive access, blocking this thread until `deadline` at the latest.
    #[doc(alias = "try_write_until")]
    write_until;
    /// Acquires exclusive access with a guard that holds an `Arc` of the lock, blocking this thread as [`write`](Self::write) does.
    #[doc(alias = "write_arc")]
    write_owned;
    /// Attempts to acquire exclusive access without waiting, with a guard that holds an `Arc` of the lock.
    try_write_owned;
    /// Acquires exclusive access without blocking this thread, with a future and a guard that hold an `Arc` of the lock.
    write_owned_async;
}

mode! {
    "# Upgradable shared access", Mode::Upgradable, RwLockUpgradableRead, RwLockUpgradableReadGuard, OwnedRwLockUpgradableReadGuard;
    /// Acquires the upgradable read lock, blocking this thread while a writer or another upgradable reader holds the lock, or it is
    /// reserved for an earlier waiter.
    #[doc(alias("upgradeable_read", "lock_upgradable", "upgradable_read_blocking"))]
    upgradable_read;
    /// Attempts to acquire the upgradable read lock without waiting. Returns `None` also while the lock is reserved for a waiter.
    try_upgradable_read;
    /// Acquires the upgradable read lock without blocking this thread: the task waits while a writer or another upgradable reader holds the
    /// lock, or it is reserved for an earlier waiter.
    #[doc(alias = "upgradeable_read_async")]
    upgradable_read_async;
    /// Acquires the upgradable read lock, blocking this thread for at most `timeout`.
    #[doc(alias = "try_upgradable_read_for")]
    upgradable_read_for;
    /// Acquires the upgradable read lock, blocking this thread until `deadline` at the latest.
    #[doc(alias = "try_upgradable_read_until")]
    upgradable_read_until;
    /// Acquires the upgradable read lock with a guard that holds an `Arc` of the lock, blocking this thread as
    /// [`upgradable_read`](Self::upgradable_read) does.
    #[doc(alias = "upgradable_read_arc")]
    upgradable_read_owned;
    /// Attempts to acquire the upgradable read lock without waiting, with a guard that holds an `Arc` of the lock.
    try_upgradable_read_owned;
    /// Acquires the upgradable read lock without blocking this thread, with a future and a guard that hold an `Arc` of the lock.
    upgradable_read_owned_async;
}
