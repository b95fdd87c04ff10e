//! Guards that release the lock: for a while, or for good with their share returned.

use std::sync::Arc;

use crate::raw_rwlock::{Mode, RawRwLock};
use crate::rwlock::{
    OwnedRwLockReadGuard, OwnedRwLockUpgradableReadGuard, OwnedRwLockWriteGuard, RwLock, RwLockRead,
    RwLockReadGuard, RwLockReadOwned, RwLockUpgradableRead, RwLockUpgradableReadGuard,
    RwLockUpgradableReadOwned, RwLockWrite, RwLockWriteGuard, RwLockWriteOwned,
};
use crate::unlocked::unlocked_methods;

unlocked_methods! {
    RwLockReadGuard<'a, T> of RwLock by "read", written to by "write":
    rwlock, Mode::Read, RawRwLock::release_read, RawRwLock::release_read_fair, RwLockRead, this keeps &mut this.hold
}

unlocked_methods! {
    RwLockUpgradableReadGuard<'a, T> of RwLock by "upgradable_read", written to by "write":
    rwlock, Mode::Upgradable, RawRwLock::release_upgradable, RawRwLock::release_upgradable_fair, RwLockUpgradableRead, this keeps &mut this.hold
}

unlocked_methods! {
    RwLockWriteGuard<'a, T> of RwLock by "write", written to by "write":
    rwlock, Mode::Write, RawRwLock::release_write, RawRwLock::release_write_fair, RwLockWrite, this keeps &mut this.hold
}

unlocked_methods! {
    OwnedRwLockReadGuard<T> of RwLock by "read_owned", written to by "write":
    rwlock, Mode::Read, RawRwLock::release_read, RawRwLock::release_read_fair, RwLockReadOwned, this keeps &mut this.hold
}

unlocked_methods! {
    OwnedRwLockUpgradableReadGuard<T> of RwLock by "upgradable_read_owned", written to by "write":
    rwlock, Mode::Upgradable, RawRwLock::release_upgradable, RawRwLock::release_upgradable_fair, RwLockUpgradableReadOwned, this keeps &mut this.hold
}

unlocked_methods! {
    OwnedRwLockWriteGuard<T> of RwLock by "write_owned", written to by "write":
    rwlock, Mode::Write, RawRwLock::release_write, RawRwLock::release_write_fair, RwLockWriteOwned, this keeps &mut this.hold
}

macro_rules! into_arc {
    ($($guard:ident by $acquire:literal: $release:ident, $release_fair:ident;)*) => {$(
        impl<T: ?Sized> $guard<T> {
            /// Releases the lock, and returns the share in it.
            ///
            /// ```
            #[doc = concat!("use waitword::{", stringify!($guard), " as Guard, RwLock};")]
            /// # use std::sync::Arc;
            ///
            #[doc = concat!("let lock = Guard::into_arc(Arc::new(RwLock::new(1)).", $acquire, "());")]
            /// assert_eq!(Arc::into_inner(lock).map(RwLock::into_inner), Some(1));
            /// ```
            pub fn into_arc(this: Self) -> Arc<RwLock<T>> {
                let hold = this.hold;
                let rwlock = Self::forget(this);
                rwlock.raw.$release(hold);
                rwlock
            }

            /// As [`into_arc`](Self::into_arc), released as by [`unlock_fair`](Self::unlock_fair).
            pub fn into_arc_fair(this: Self) -> Arc<RwLock<T>> {
                let hold = this.hold;
                let rwlock = Self::forget(this);
                rwlock.raw.$release_fair(hold);
                rwlock
            }
        }
    )*};
}

into_arc! {
    OwnedRwLockReadGuard by "read_owned": release_read, release_read_fair;
    OwnedRwLockUpgradableReadGuard by "upgradable_read_owned": release_upgradable, release_upgradable_fair;
    OwnedRwLockWriteGuard by "write_owned": release_write, release_write_fair;
}
