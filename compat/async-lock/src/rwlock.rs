//! The readers-writer lock.

use std::sync::Arc;

use crate::wrap::{future, guard, inside, owns_its_value, ways};

/// A value that many can read at a time, or one can change. All wait in one FIFO queue. While others read, readers may barge past a writer that
/// waits: eight at the most, or those of about a millisecond if these are more. Later ones wait behind it.
///
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
        self: &Self => inside, "Reads, together with others";
        try_read by try_read, read by read_async -> Read<'_, T>, read_blocking by read -> RwLockReadGuard<'_, T> = RwLockReadGuard
    }

    ways! {
        self: &Arc<Self> => shared, "Reads, together with others, over an `Arc`";
        try_read_arc by try_read_owned, read_arc by read_owned_async -> ReadArc<'_, T>,
        read_arc_blocking by read_owned -> RwLockReadGuardArc<T> = RwLockReadGuardArc
    }

    ways! {
        self: &Self => inside, "Reads, as the one who may upgrade";
        try_upgradable_read by try_upgradable_read, upgradable_read by upgradable_read_async -> UpgradableRead<'_, T>,
        upgradable_read_blocking by upgradable_read -> RwLockUpgradableReadGuard<'_, T> = RwLockUpgradableReadGuard
    }

    ways! {
        self: &Arc<Self> => shared, "Reads, as the one who may upgrade, over an `Arc`";
        try_upgradable_read_arc by try_upgradable_read_owned, upgradable_read_arc by upgradable_read_owned_async -> UpgradableReadArc<'_, T>,
        upgradable_read_arc_blocking by upgradable_read_owned -> RwLockUpgradableReadGuardArc<T> = RwLockUpgradableReadGuardArc
    }

    ways! {
        self: &Self => inside, "Has the value alone";
        try_write by try_write, write by write_async -> Write<'_, T>, write_blocking by write -> RwLockWriteGuard<'_, T> = RwLockWriteGuard
    }

    ways! {
        self: &Arc<Self> => shared, "Has the value alone, over an `Arc`";
        try_write_arc by try_write_owned, write_arc by write_owned_async -> WriteArc<'_, T>,
        write_arc_blocking by write_owned -> RwLockWriteGuardArc<T> = RwLockWriteGuardArc
    }
}

/// The guards of the three modes, and how each becomes another.
macro_rules! guards {
    (
        $share:literal: $Read:ident, $Upgradable:ident, $Write:ident, $Upgrade:ident<$($life:lifetime,)? T>
            of $InnerRead:ident, $InnerUpgradable:ident, $InnerWrite:ident
    ) => {
        guard! {
            #[doc = concat!("One of the readers of a [`RwLock`]", $share, ".")]
            $Read<$($life,)? T>: waitword::$InnerRead<$($life,)? T>
        }

        guard! {
            #[doc = concat!("The reader of a [`RwLock`] that may become the writer", $share, ".")]
            $Upgradable<$($life,)? T>: waitword::$InnerUpgradable<$($life,)? T>
        }

        guard! {
            #[doc = concat!("The writer of a [`RwLock`]", $share, ".")]
            $Write<$($life,)? T>: waitword::$InnerWrite<$($life,)? T>, mut
        }

        impl<$($life,)? T: ?Sized> $Upgradable<$($life,)? T> {
            /// Becomes an ordinary reader.
            pub fn downgrade(guard: Self) -> $Read<$($life,)? T> {
                $Read(waitword::$InnerUpgradable::downgrade(guard.0))
            }

            /// Becomes the writer if there is no other reader. Never waits.
            ///
            /// # Errors
            /// The guard, if there is another reader.
            pub fn try_upgrade(guard: Self) -> Result<$Write<$($life,)? T>, Self> {
                waitword::$InnerUpgradable::try_upgrade(guard.0).map($Write).map_err(Self)
            }

            /// Becomes the writer when the other readers have left. If the future is dropped, so is the guard.
            #[track_caller]
            pub fn upgrade(guard: Self) -> $Upgrade<$($life,)? T> {
                $Upgrade { inside: waitword::$InnerUpgradable::upgrade_async(guard.0) }
            }

            /// As [`upgrade`](Self::upgrade), blocking this thread until then.
            #[track_caller]
            pub fn upgrade_blocking(guard: Self) -> $Write<$($life,)? T> {
                $Write(waitword::$InnerUpgradable::upgrade(guard.0))
            }
        }

        impl<$($life,)? T: ?Sized> $Write<$($life,)? T> {
            /// Becomes a reader, with no writer in between.
            pub fn downgrade(guard: Self) -> $Read<$($life,)? T> {
                $Read(waitword::$InnerWrite::downgrade(guard.0))
            }

            /// Becomes the upgradable reader, with no writer in between.
            pub fn downgrade_to_upgradable(guard: Self) -> $Upgradable<$($life,)? T> {
                $Upgradable(waitword::$InnerWrite::downgrade_to_upgradable(guard.0))
            }
        }
    };
}

guards! {
    "": RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard, Upgrade<'a, T>
        of RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard
}

guards! {
    ", with a share in the lock": RwLockReadGuardArc, RwLockUpgradableReadGuardArc, RwLockWriteGuardArc, UpgradeArc<T>
        of OwnedRwLockReadGuard, OwnedRwLockUpgradableReadGuard, OwnedRwLockWriteGuard
}

/// The futures, of waitword's.
macro_rules! futures {
    ($($of:literal $text:literal $Future:ident[$($life:lifetime,)? T]: $Inner:ident<$P:ty> => $Guard:ident;)+) => {$(
        future! {
            #[doc = concat!("The future of [`", $of, "`].")]
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

/// The future of [`RwLock::read_arc`]. The lifetime is async-lock's: it borrows nothing.
pub type ReadArc<'a, T> = ReadOwned<T>;
/// The future of [`RwLock::upgradable_read_arc`]. The lifetime is async-lock's: it borrows nothing.
pub type UpgradableReadArc<'a, T> = UpgradableReadOwned<T>;
/// The future of [`RwLock::write_arc`]. The lifetime is async-lock's: it borrows nothing.
pub type WriteArc<'a, T> = WriteOwned<T>;
