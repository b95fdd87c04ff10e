//! The guards: for reading, upgradable, and for writing; borrowed, and over an `Arc`; and the futures that end with them. What the guards
//! do is written in `guards/`.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::ptr;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::acquire::Acquire as _;
use crate::acquire::grid::guard_future;
use crate::guards::whole::{guard, into_arc, leads_to_its_lock, writes};
use crate::holders::{Change, Hold, HoldId, changed};
use crate::raw_rwlock::{Mode, RawRwLock};
use crate::rwlock::RwLock;
use crate::rwlock::read_ref::ReadRef;

/// The sentences about `bump` on the pages of guards that other readers can hold at the same time.
macro_rules! bump_among_readers {
    (Write) => {
        ""
    };
    ($mode:ident) => {
        "A pending [upgrade](crate::RwLockUpgradableReadGuard::upgrade) also counts as a waiter. If there are other readers, the head waiter \
        and this thread wait until those have released. So if this thread holds a second guard of the lock, it may wait for itself."
    };
}

/// A guard of an `RwLock` in this mode.
macro_rules! rwlock_guard {
    (
        $(#[$docs:meta])*
        $Guard:ident<$($life:lifetime,)? T> as $Shared:ty, as if $Like:ty, $mode:ident by $acquire:literal or $instead:literal -> $Future:ty,
        $release:ident, $release_fair:ident $(, sent as $hold:ident)?
    ) => {
        guard! {
            $(#[$docs])*
            #[must_use = "dropping the guard releases the lock: keep it with `let guard = ...`"]
            $Guard<$($life,)? T> of RwLock as $Shared, as if $Like, Mode::$mode,
            by $acquire or $instead -> $Future, written to by "write",
            RawRwLock::{$release, $release_fair},
            bump_among_readers!($mode)
            $(, sent as $hold)?
        }
    };
}

rwlock_guard! {
    /// A guard of shared access to a [`RwLock`]. Dropping the guard releases the lock.
    ///
    /// It is [`Send`] and [`Sync`] when `T` is [`Sync`], and may be dropped on another thread than the one that acquired it.
    ///
    /// It is covariant in `T`, like a `&T`: a guard of a `&'static str` can be passed where a guard of a shorter-lived `&str` is
    /// expected. Therefore it gives no access to the lock, through which a shorter-lived value could be written.
    ///
    /// It does not allow changes:
    ///
    /// ```compile_fail,E0594
    /// let lock = waitword::RwLock::new(1);
    /// *lock.read() += 1;
    /// ```
    RwLockReadGuard<'a, T> as ReadRef<'a, T>, as if &'a T, Read by "read" or "read_async" -> RwLockRead<&'a RwLock<T>>,
    release_read, release_read_fair
}

rwlock_guard! {
    /// The guard of the upgradable read lock of a [`RwLock`], which can be [upgraded](Self::upgrade). Dropping the guard releases the lock.
    ///
    /// It is [`Send`] and [`Sync`] when `T` is both, and may be dropped on another thread than the one that acquired it.
    #[doc(alias = "RwLockUpgradeableReadGuard")]
    RwLockUpgradableReadGuard<'a, T> as &'a RwLock<T>, as if &'a T,
    Upgradable by "upgradable_read" or "upgradable_read_async" -> RwLockUpgradableRead<&'a RwLock<T>>,
    release_upgradable, release_upgradable_fair
}

rwlock_guard! {
    /// The guard of exclusive access to a [`RwLock`]. Dropping the guard releases the lock.
    ///
    /// It is [`Send`] and [`Sync`] when `T` is both, and may be dropped on another thread than the one that acquired it.
    RwLockWriteGuard<'a, T> as &'a RwLock<T>, as if &'a mut T, Write by "write" or "write_async" -> RwLockWrite<&'a RwLock<T>>,
    release_write, release_write_fair
}

rwlock_guard! {
    /// A guard of shared access to a [`RwLock`] that holds an `Arc` of the lock. Dropping the guard releases the lock.
    ///
    /// It is like [`RwLockReadGuard`], but borrows nothing.
    #[doc(alias = "ArcRwLockReadGuard")]
    OwnedRwLockReadGuard<T> as Arc<RwLock<T>>, as if T, Read by "read_owned" or "read_owned_async" -> RwLockRead<Arc<RwLock<T>>>,
    release_read, release_read_fair, sent as Read
}

rwlock_guard! {
    /// The guard of the upgradable read lock of a [`RwLock`] that holds an `Arc` of the lock. Dropping the guard releases the lock.
    ///
    /// It is like [`RwLockUpgradableReadGuard`], but borrows nothing.
    #[doc(alias = "ArcRwLockUpgradableReadGuard")]
    OwnedRwLockUpgradableReadGuard<T> as Arc<RwLock<T>>, as if T,
    Upgradable by "upgradable_read_owned" or "upgradable_read_owned_async" -> RwLockUpgradableRead<Arc<RwLock<T>>>,
    release_upgradable, release_upgradable_fair, sent as UpgradableRead
}

rwlock_guard! {
    /// The guard of exclusive access to a [`RwLock`] that holds an `Arc` of the lock. Dropping the guard releases the lock.
    ///
    /// It is like [`RwLockWriteGuard`], but borrows nothing.
    #[doc(alias = "ArcRwLockWriteGuard")]
    OwnedRwLockWriteGuard<T> as Arc<RwLock<T>>, as if T, Write by "write_owned" or "write_owned_async" -> RwLockWrite<Arc<RwLock<T>>>,
    release_write, release_write_fair, sent as Write
}

writes! {
    ['a, T: ?Sized] RwLockWriteGuard<'a, T>: this => &mut *this.lock.value.get();
    [T: ?Sized] OwnedRwLockWriteGuard<T>: this => &mut *this.lock.value.get();
}

// All but the reader's, which is covariant (invariant 4).
leads_to_its_lock! {
    rwlock;
    ['a, T: ?Sized] RwLockUpgradableReadGuard<'a, T>: this -> &'a RwLock<T> { this.lock }
    ['a, T: ?Sized] RwLockWriteGuard<'a, T>: this -> &'a RwLock<T> { this.lock }
    [T: ?Sized] OwnedRwLockReadGuard<T>: this -> &Arc<RwLock<T>> { &this.lock }
    [T: ?Sized] OwnedRwLockUpgradableReadGuard<T>: this -> &Arc<RwLock<T>> { &this.lock }
    [T: ?Sized] OwnedRwLockWriteGuard<T>: this -> &Arc<RwLock<T>> { &this.lock }
}

into_arc! {
    OwnedRwLockReadGuard of RwLock by "read_owned": release_read, release_read_fair;
    OwnedRwLockUpgradableReadGuard of RwLock by "upgradable_read_owned": release_upgradable, release_upgradable_fair;
    OwnedRwLockWriteGuard of RwLock by "write_owned": release_write, release_write_fair;
}

macro_rules! writer {
    ($guard:ident<$($life:lifetime,)? T>, $read:ident, $upgradable:ident) => {
        impl<$($life,)? T: ?Sized> $guard<$($life,)? T> {
            /// Downgrades exclusive access to shared access, atomically: no other writer acquires the lock in between. Queued readers acquire
            /// the lock as well. Never waits.
            ///
            /// ```
            /// use waitword::{RwLock, RwLockWriteGuard};
            ///
            /// let lock = RwLock::new(1);
            /// let mut writer = lock.write();
            /// *writer += 1;
            /// let reader = RwLockWriteGuard::downgrade(writer);
            /// assert_eq!((*reader, *lock.read()), (2, 2));
            /// ```
            #[inline]
            pub fn downgrade(this: Self) -> $read<$($life,)? T> {
                let hold = this.hold;
                this.lock.raw.downgrade(hold);
                // SAFETY: the acquisition of the guard that is forgotten is one of a reader now (invariant 1).
                unsafe { $read::new(Self::forget(this), hold) }
            }

            /// Downgrades exclusive access to the upgradable read lock, atomically: no other writer acquires the lock in between. Queued
            /// readers acquire the lock as well. Never waits.
            #[inline]
            pub fn downgrade_to_upgradable(this: Self) -> $upgradable<$($life,)? T> {
                let hold = this.hold;
                this.lock.raw.downgrade_to_upgradable(hold);
                // SAFETY: as for `downgrade`, and it is an upgradable one.
                unsafe { $upgradable::new(Self::forget(this), hold) }
            }
        }
    };
}

writer! { RwLockWriteGuard<'a, T>, RwLockReadGuard, RwLockUpgradableReadGuard }
writer! { OwnedRwLockWriteGuard<T>, OwnedRwLockReadGuard, OwnedRwLockUpgradableReadGuard }

guard_future! {
    RwLock over RawRwLock, Mode::Read;
    RwLockRead("read_async", "read_owned_async") -> RwLockReadGuard, OwnedRwLockReadGuard
}

guard_future! {
    RwLock over RawRwLock, Mode::Write;
    RwLockWrite("write_async", "write_owned_async") -> RwLockWriteGuard, OwnedRwLockWriteGuard
}

guard_future! {
    RwLock over RawRwLock, Mode::Upgradable;
    RwLockUpgradableRead("upgradable_read_async", "upgradable_read_owned_async")
        -> RwLockUpgradableReadGuard, OwnedRwLockUpgradableReadGuard
}
