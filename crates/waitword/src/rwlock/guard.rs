//! The guards: for reading, upgradable, and for writing; borrowed, and over an `Arc`.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::ptr;
use std::sync::Arc;

use waitword_core::observe::holders::{Hold, HoldId, may_be_elsewhere};

use crate::acquire::Acquire as _;
use crate::raw_rwlock::Mode;
use crate::rwlock::RwLock;
use crate::rwlock::read_ref::ReadRef;

macro_rules! guard {
    ($(#[$docs:meta])* $guard:ident<$($life:lifetime,)? T>: $lock:ty, as if $like:ty,
     $mode:ident by $plain:literal or $acquire:literal, $release:ident, $release_fair:ident$(, sent as $hold:ident)?) => {
        $(#[$docs])*
        #[must_use = "the lock is released again at once if nobody keeps the guard: `let guard = ...`"]
        #[clippy::has_significant_drop]
        pub struct $guard<$($life,)? T: ?Sized> {
            pub(super) rwlock: $lock,
            pub(super) hold: HoldId,
            _value: PhantomData<$like>,
        }

        impl<$($life,)? T: ?Sized> $guard<$($life,)? T> {
            /// # Safety
            /// The lock was acquired in the mode of this guard, and this is the guard of that acquisition (invariant 1).
            #[inline]
            pub(super) unsafe fn new(rwlock: impl Into<$lock>, hold: HoldId) -> Self {
                let rwlock: $lock = rwlock.into();
                $(may_be_elsewhere(rwlock.raw.held_at(), Hold::$hold, hold);)?
                Self { rwlock, hold, _value: PhantomData }
            }

            /// Releases the lock for the queued waiters only, if there are any.
            ///
            /// There is no barging past the head waiter then: later acquirers enqueue behind it, also while others read. This
            /// costs a context switch where an ordinary release might have had none.
            #[doc(alias("drop_fair", "release_fair"))]
            pub fn unlock_fair(this: Self) {
                let hold = this.hold;
                Self::forget(this).raw.$release_fair(hold);
            }

            /// Lets the head waiter have its turn, and has the lock again afterwards, in the same mode, blocking this thread
            /// until it has. Others may have changed the value.
            ///
            /// This is [`unlock_fair`](Self::unlock_fair) and the acquisition in one, for a holder that has the lock for long and
            /// can release it for a moment. If no waiter is queued it costs a load, and the lock is not released.
            ///
            /// ```
            #[doc = concat!("use waitword::{", stringify!($guard), " as Guard, RwLock};")]
            /// # use std::sync::Arc;
            ///
            /// let lock = Arc::new(RwLock::new(1));
            #[doc = concat!("let mut guard = lock.", $plain, "();")]
            /// for _ in 0..3 {
            ///     // Something takes long; then others may have it for a moment.
            ///     Guard::bump(&mut guard);
            /// }
            /// ```
            ///
            /// # Fairness
            /// There is no barging past the head waiter; readers also wait for a pending
            /// [upgrade](crate::RwLockUpgradableReadGuard::upgrade). Afterwards this thread is an ordinary acquirer. If there are
            /// other readers, both wait until these have left.
            ///
            #[doc = concat!("A task does it with `unlock_fair` and [`", $acquire, "`](RwLock::", $acquire, ").")]
            ///
            /// # Panics
            /// If a waiter is queued and this thread must not block ([`forbid_blocking`](crate::forbid_blocking)); and if the
            /// waker of a signalled waiter does. The guard holds the lock as before, then.
            ///
            /// # Deadlocks
            /// A thread that has another guard of this lock waits for itself, if a writer is queued.
            #[inline]
            #[track_caller]
            pub fn bump(this: &mut Self) {
                this.rwlock.raw.bump(Mode::$mode, &mut this.hold, Some($acquire));
            }

            /// The lock, which stays as it is.
            #[inline]
            pub(super) fn forget(this: Self) -> $lock {
                let this = ManuallyDrop::new(this);
                // SAFETY: `this` is neither dropped nor read again, so what it held goes to the caller (invariant 1).
                unsafe { ptr::read(&this.rwlock) }
            }
        }

        impl<$($life,)? T: ?Sized> Drop for $guard<$($life,)? T> {
            #[inline]
            fn drop(&mut self) {
                self.rwlock.raw.$release(self.hold);
            }
        }

        impl<$($life,)? T: ?Sized> Deref for $guard<$($life,)? T> {
            type Target = T;

            #[inline]
            fn deref(&self) -> &T {
                // SAFETY: while there is this guard, a `&mut` can come only from it, and it is borrowed (invariants 2
                // and 3).
                unsafe { &*self.rwlock.value.get() }
            }
        }

        impl<$($life,)? T: ?Sized + fmt::Debug> fmt::Debug for $guard<$($life,)? T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<$($life,)? T: ?Sized + fmt::Display> fmt::Display for $guard<$($life,)? T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    };
}

guard! {
    /// One of the readers of a [`RwLock`]. Dropping it releases the lock.
    ///
    /// It is [`Send`] and [`Sync`] when `T` is [`Sync`], and can be dropped on another thread than the one that acquired it.
    ///
    /// It is covariant in `T`, as a `&T` is: a guard of a `&'static str` serves where one of a shorter-lived `str` is asked
    /// for. So it does not lead back to the lock, through which a short-lived one could be written.
    ///
    /// A reader changes nothing:
    ///
    /// ```compile_fail,E0594
    /// let lock = waitword::RwLock::new(1);
    /// *lock.read() += 1;
    /// ```
    RwLockReadGuard<'a, T>: ReadRef<'a, T>, as if &'a T,
    Read by "read" or "read_async", release_read, release_read_fair
}

guard! {
    /// The one reader of a [`RwLock`] that may [upgrade](Self::upgrade) to writing. Dropping it releases the lock.
    ///
    /// It is [`Send`] and [`Sync`] when `T` is both, and can be dropped on another thread than the one that acquired it.
    #[doc(alias = "RwLockUpgradeableReadGuard")]
    RwLockUpgradableReadGuard<'a, T>: &'a RwLock<T>, as if &'a T,
    Upgradable by "upgradable_read" or "upgradable_read_async", release_upgradable, release_upgradable_fair
}

guard! {
    /// The writer of a [`RwLock`], alone with the value. Dropping it releases the lock.
    ///
    /// It is [`Send`] and [`Sync`] when `T` is both, and can be dropped on another thread than the one that acquired it.
    RwLockWriteGuard<'a, T>: &'a RwLock<T>, as if &'a mut T,
    Write by "write" or "write_async", release_write, release_write_fair
}

guard! {
    /// One of the readers of a [`RwLock`], with a share in the lock. Dropping it releases the lock.
    ///
    /// As [`RwLockReadGuard`], but that it borrows nothing.
    #[doc(alias = "ArcRwLockReadGuard")]
    OwnedRwLockReadGuard<T>: Arc<RwLock<T>>, as if T,
    Read by "read_owned" or "read_owned_async", release_read, release_read_fair,
    sent as Read
}

guard! {
    /// The one reader of a [`RwLock`] that may upgrade, with a share in the lock. Dropping it releases the lock.
    ///
    /// As [`RwLockUpgradableReadGuard`], but that it borrows nothing.
    #[doc(alias = "ArcRwLockUpgradableReadGuard")]
    OwnedRwLockUpgradableReadGuard<T>: Arc<RwLock<T>>, as if T,
    Upgradable by "upgradable_read_owned" or "upgradable_read_owned_async", release_upgradable, release_upgradable_fair,
    sent as UpgradableRead
}

guard! {
    /// The writer of a [`RwLock`], with a share in the lock. Dropping it releases the lock.
    ///
    /// As [`RwLockWriteGuard`], but that it borrows nothing.
    #[doc(alias = "ArcRwLockWriteGuard")]
    OwnedRwLockWriteGuard<T>: Arc<RwLock<T>>, as if T,
    Write by "write_owned" or "write_owned_async", release_write, release_write_fair,
    sent as Write
}

macro_rules! leads_to_its_lock {
    ($($guard:ident<$($life:lifetime,)? T>: $this:ident -> $lock:ty { $show:expr })*) => {$(
        impl<$($life,)? T: ?Sized> $guard<$($life,)? T> {
            /// The lock that this is a guard of.
            #[doc(alias = "source")]
            pub fn rwlock($this: &Self) -> $lock {
                $show
            }
        }
    )*};
}

// All but the reader's, which is covariant (invariant 4).
leads_to_its_lock! {
    RwLockUpgradableReadGuard<'a, T>: this -> &'a RwLock<T> { this.rwlock }
    RwLockWriteGuard<'a, T>: this -> &'a RwLock<T> { this.rwlock }
    OwnedRwLockReadGuard<T>: this -> &Arc<RwLock<T>> { &this.rwlock }
    OwnedRwLockUpgradableReadGuard<T>: this -> &Arc<RwLock<T>> { &this.rwlock }
    OwnedRwLockWriteGuard<T>: this -> &Arc<RwLock<T>> { &this.rwlock }
}

macro_rules! writer {
    ($guard:ident<$($life:lifetime,)? T>, $read:ident, $upgradable:ident) => {
        impl<$($life,)? T: ?Sized> $guard<$($life,)? T> {
            /// Becomes a reader. There is no writer in between, and queued readers enter, too.
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
                this.rwlock.raw.downgrade(hold);
                // SAFETY: the acquisition of the guard that is forgotten is one of a reader now (invariant 1).
                unsafe { $read::new(Self::forget(this), hold) }
            }

            /// Becomes the upgradable reader. There is no writer in between, and queued readers enter, too.
            #[inline]
            pub fn downgrade_to_upgradable(this: Self) -> $upgradable<$($life,)? T> {
                let hold = this.hold;
                this.rwlock.raw.downgrade_to_upgradable(hold);
                // SAFETY: as for `downgrade`, and it is an upgradable one.
                unsafe { $upgradable::new(Self::forget(this), hold) }
            }
        }

        impl<$($life,)? T: ?Sized> DerefMut for $guard<$($life,)? T> {
            #[inline]
            fn deref_mut(&mut self) -> &mut T {
                // SAFETY: this is the only guard, and it is borrowed mutably (invariants 2 and 3).
                unsafe { &mut *self.rwlock.value.get() }
            }
        }
    };
}

writer! { RwLockWriteGuard<'a, T>, RwLockReadGuard, RwLockUpgradableReadGuard }
writer! { OwnedRwLockWriteGuard<T>, OwnedRwLockReadGuard, OwnedRwLockUpgradableReadGuard }
