//! The readers-writer lock.

use std::sync::Arc;

use crate::wrap::{future, guard, inside, owns_its_value, ways};

/// An async readers-writer lock around a value, which threads can acquire too: many readers at a time, or one writer.
///
/// # Fairness
/// All waiters, tasks and threads alike, are in one queue, and acquire the lock in FIFO order. While others read, readers may barge past a
/// waiting writer: at most eight of them, or as many as arrive within about a millisecond if these are more. Later readers wait behind the writer.
///
/// # Example
/// ```
/// let lock = async_lock::RwLock::new(1);
/// *lock.write_blocking() += 1;
/// assert_eq!((*lock.read_blocking(), *lock.try_read().unwrap()), (2, 2));
/// ```
#[derive(Default)]
#[repr(transparent)]
pub struct RwLock<T: ?Sized>(waitword::RwLock<T>);

owns_its_value!(RwLock, try_read as "value");
inside! { [T: ?Sized] RwLock<T> => waitword::RwLock<T> }

impl<T: ?Sized> RwLock<T> {
    ways! {
        self: &Self => inside;
        /// Attempts to acquire shared access without waiting. Returns `None` also while the lock is reserved for a waiter.
        try_read by try_read,
        /// Acquires shared access without blocking this thread: the task waits while a writer holds the lock or an earlier waiter is queued.
        read by read_async -> Read<'_, T>,
        /// Acquires shared access, blocking this thread while a writer holds the lock or an earlier waiter is queued.
        read_blocking by read -> RwLockReadGuard<'_, T> = RwLockReadGuard
    }

    ways! {
        self: &Arc<Self> => shared;
        /// Attempts to acquire shared access without waiting, with a guard that holds an `Arc` of the lock.
        try_read_arc by try_read_owned,
        /// Acquires shared access without blocking this thread, with a future and a guard that hold an `Arc` of the lock.
        read_arc by read_owned_async -> ReadArc<'_, T>,
        /// Acquires shared access with a guard that holds an `Arc` of the lock, blocking this thread as
        /// [`read_blocking`](Self::read_blocking) does.
        read_arc_blocking by read_owned -> RwLockReadGuardArc<T> = RwLockReadGuardArc
    }

    ways! {
        self: &Self => inside;
        /// Attempts to acquire the upgradable read lock without waiting. Returns `None` also while the lock is reserved for a waiter.
        try_upgradable_read by try_upgradable_read,
        /// Acquires the upgradable read lock without blocking this thread: the task waits while a writer or another upgradable reader holds the
        /// lock, or an earlier waiter is queued.
        upgradable_read by upgradable_read_async -> UpgradableRead<'_, T>,
        /// Acquires the upgradable read lock, blocking this thread while a writer or another upgradable reader holds the lock, or an earlier
        /// waiter is queued.
        upgradable_read_blocking by upgradable_read -> RwLockUpgradableReadGuard<'_, T> = RwLockUpgradableReadGuard
    }

    ways! {
        self: &Arc<Self> => shared;
        /// Attempts to acquire the upgradable read lock without waiting, with a guard that holds an `Arc` of the lock.
        try_upgradable_read_arc by try_upgradable_read_owned,
        /// Acquires the upgradable read lock without blocking this thread, with a future and a guard that hold an `Arc` of the lock.
        upgradable_read_arc by upgradable_read_owned_async -> UpgradableReadArc<'_, T>,
        /// Acquires the upgradable read lock with a guard that holds an `Arc` of the lock, blocking this thread as
        /// [`upgradable_read_blocking`](Self::upgradable_read_blocking) does.
        upgradable_read_arc_blocking by upgradable_read_owned -> RwLockUpgradableReadGuardArc<T> = RwLockUpgradableReadGuardArc
    }

    ways! {
        self: &Self => inside;
        /// Attempts to acquire exclusive access without waiting. Returns `None` also while the lock is reserved for a waiter.
        try_write by try_write,
        /// Acquires exclusive access without blocking this thread: the task waits while anyone else holds the lock or an earlier waiter is queued.
        write by write_async -> Write<'_, T>,
        /// Acquires exclusive access, blocking this thread while anyone else holds the lock or an earlier waiter is queued.
        write_blocking by write -> RwLockWriteGuard<'_, T> = RwLockWriteGuard
    }

    ways! {
        self: &Arc<Self> => shared;
        /// Attempts to acquire exclusive access without waiting, with a guard that holds an `Arc` of the lock.
        try_write_arc by try_write_owned,
        /// Acquires exclusive access without blocking this thread, with a future and a guard that hold an `Arc` of the lock.
        write_arc by write_owned_async -> WriteArc<'_, T>,
        /// Acquires exclusive access with a guard that holds an `Arc` of the lock, blocking this thread as
        /// [`write_blocking`](Self::write_blocking) does.
        write_arc_blocking by write_owned -> RwLockWriteGuardArc<T> = RwLockWriteGuardArc
    }
}

/// Defines the guards of the three modes, and the upgrades and downgrades between them.
macro_rules! guards {
    (
        $(#[$read_docs:meta])* $Read:ident of $InnerRead:ident,
        $(#[$upgradable_docs:meta])* $Upgradable:ident of $InnerUpgradable:ident,
        $(#[$write_docs:meta])* $Write:ident of $InnerWrite:ident,
        $Upgrade:ident<$($life:lifetime,)? T>
    ) => {
        guard! {
            $(#[$read_docs])*
            $Read<$($life,)? T>: waitword::$InnerRead<$($life,)? T>
        }

        guard! {
            $(#[$upgradable_docs])*
            $Upgradable<$($life,)? T>: waitword::$InnerUpgradable<$($life,)? T>
        }

        guard! {
            $(#[$write_docs])*
            $Write<$($life,)? T>: waitword::$InnerWrite<$($life,)? T>, mut
        }

        impl<$($life,)? T: ?Sized> $Upgradable<$($life,)? T> {
            /// Downgrades the upgradable read lock to shared access, so that others can acquire the upgradable read lock. Never waits.
            pub fn downgrade(guard: Self) -> $Read<$($life,)? T> {
                $Read(waitword::$InnerUpgradable::downgrade(guard.0))
            }

            /// Attempts to upgrade to exclusive access without waiting.
            ///
            /// # Errors
            /// Returns this guard, unchanged, if there are other readers.
            pub fn try_upgrade(guard: Self) -> Result<$Write<$($life,)? T>, Self> {
                waitword::$InnerUpgradable::try_upgrade(guard.0).map($Write).map_err(Self)
            }

            /// Upgrades to exclusive access without blocking this thread: the task waits until all other readers release.
            ///
            /// # Cancellation
            /// The future holds the guard. Dropping the future before it is ready releases the lock, as dropping the guard does.
            #[track_caller]
            pub fn upgrade(guard: Self) -> $Upgrade<$($life,)? T> {
                $Upgrade { inside: waitword::$InnerUpgradable::upgrade_async(guard.0) }
            }

            /// Upgrades to exclusive access, blocking this thread until all other readers release.
            ///
            /// # Panics
            /// If the call would block, and blocking is forbidden on this thread (`waitword::forbid_blocking`).
            #[track_caller]
            pub fn upgrade_blocking(guard: Self) -> $Write<$($life,)? T> {
                $Write(waitword::$InnerUpgradable::upgrade(guard.0))
            }
        }

        impl<$($life,)? T: ?Sized> $Write<$($life,)? T> {
            /// Downgrades exclusive access to shared access, atomically: no other writer acquires the lock in between. Never waits.
            pub fn downgrade(guard: Self) -> $Read<$($life,)? T> {
                $Read(waitword::$InnerWrite::downgrade(guard.0))
            }

            /// Downgrades exclusive access to the upgradable read lock, atomically: no other writer acquires the lock in between. Never waits.
            pub fn downgrade_to_upgradable(guard: Self) -> $Upgradable<$($life,)? T> {
                $Upgradable(waitword::$InnerWrite::downgrade_to_upgradable(guard.0))
            }
        }
    };
}

guards! {
    /// The guard of shared access to a [`RwLock`]. Dropping it releases the lock.
    RwLockReadGuard of RwLockReadGuard,
    /// The guard of the upgradable read lock of a [`RwLock`]: it can be upgraded to exclusive access. Dropping it releases the lock.
    RwLockUpgradableReadGuard of RwLockUpgradableReadGuard,
    /// The guard of exclusive access to a [`RwLock`]. Dropping it releases the lock.
    RwLockWriteGuard of RwLockWriteGuard,
    Upgrade<'a, T>
}

guards! {
    /// The guard of shared access to a [`RwLock`], which holds an `Arc` of the lock. Dropping it releases the lock.
    RwLockReadGuardArc of OwnedRwLockReadGuard,
    /// The guard of the upgradable read lock of a [`RwLock`], which holds an `Arc` of the lock. It can be upgraded to exclusive access. Dropping
    /// it releases the lock.
    RwLockUpgradableReadGuardArc of OwnedRwLockUpgradableReadGuard,
    /// The guard of exclusive access to a [`RwLock`], which holds an `Arc` of the lock. Dropping it releases the lock.
    RwLockWriteGuardArc of OwnedRwLockWriteGuard,
    UpgradeArc<T>
}

/// Defines the futures, each around one of waitword's.
macro_rules! futures {
    ($($of:literal $text:literal $Future:ident[$($life:lifetime,)? T]: $Inner:ident<$P:ty> => $Guard:ident;)+) => {$(
        future! {
            #[doc = concat!("The future returned by [`", $of, "`].")]
            $Future [<$($life,)? T: ?Sized>] [<$($life,)? T>]: waitword::future::$Inner<$P> => $Guard<$($life,)? T>, $Guard, $text
        }
    )+};
}

futures! {
    "RwLock::read" "Read { .. }" Read['a, T]: RwLockRead<&'a waitword::RwLock<T>> => RwLockReadGuard;
    "RwLock::read_arc" "ReadArc { .. }" ReadOwned[T]: RwLockRead<Arc<waitword::RwLock<T>>> => RwLockReadGuardArc;
    "RwLock::upgradable_read" "UpgradableRead { .. }" UpgradableRead['a, T]:
        RwLockUpgradableRead<&'a waitword::RwLock<T>> => RwLockUpgradableReadGuard;
    "RwLock::upgradable_read_arc" "UpgradableReadArc { .. }" UpgradableReadOwned[T]:
        RwLockUpgradableRead<Arc<waitword::RwLock<T>>> => RwLockUpgradableReadGuardArc;
    "RwLock::write" "Write { .. }" Write['a, T]: RwLockWrite<&'a waitword::RwLock<T>> => RwLockWriteGuard;
    "RwLock::write_arc" "WriteArc { .. }" WriteOwned[T]: RwLockWrite<Arc<waitword::RwLock<T>>> => RwLockWriteGuardArc;
    "RwLockUpgradableReadGuard::upgrade" "Upgrade" Upgrade['a, T]:
        RwLockUpgrade<waitword::RwLockUpgradableReadGuard<'a, T>> => RwLockWriteGuard;
    "RwLockUpgradableReadGuardArc::upgrade" "ArcUpgrade" UpgradeArc[T]:
        RwLockUpgrade<waitword::OwnedRwLockUpgradableReadGuard<T>> => RwLockWriteGuardArc;
}

/// The future returned by [`RwLock::read_arc`]. It borrows nothing; the lifetime exists because async-lock's has one.
pub type ReadArc<'a, T> = ReadOwned<T>;
/// The future returned by [`RwLock::upgradable_read_arc`]. It borrows nothing; the lifetime exists because async-lock's has one.
pub type UpgradableReadArc<'a, T> = UpgradableReadOwned<T>;
/// The future returned by [`RwLock::write_arc`]. It borrows nothing; the lifetime exists because async-lock's has one.
pub type WriteArc<'a, T> = WriteOwned<T>;
