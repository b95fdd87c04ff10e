//! What the `_async` methods return. Upgrades are in `upgrade.rs`.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use waitword_core::time::Instant;

use crate::acquire::guard_futures;
use crate::error::LockError;
use crate::raw_rwlock::{Mode, RawRwLock};
use crate::rwlock::{
    OwnedRwLockReadGuard, OwnedRwLockUpgradableReadGuard, OwnedRwLockWriteGuard, RwLock, RwLockReadGuard,
    RwLockUpgradableReadGuard, RwLockWriteGuard,
};

guard_futures! {
    RwLock over RawRwLock, Mode::Read => RwLockReadGuard, OwnedRwLockReadGuard:
    RwLockRead("read_async"), RwLockReadUntil("read_async_until"),
    RwLockReadOwned("read_owned_async"), RwLockReadOwnedUntil("read_owned_async_until")
}

guard_futures! {
    RwLock over RawRwLock, Mode::Write => RwLockWriteGuard, OwnedRwLockWriteGuard:
    RwLockWrite("write_async"), RwLockWriteUntil("write_async_until"),
    RwLockWriteOwned("write_owned_async"), RwLockWriteOwnedUntil("write_owned_async_until")
}

guard_futures! {
    RwLock over RawRwLock, Mode::Upgradable => RwLockUpgradableReadGuard, OwnedRwLockUpgradableReadGuard:
    RwLockUpgradableRead("upgradable_read_async"), RwLockUpgradableReadUntil("upgradable_read_async_until"),
    RwLockUpgradableReadOwned("upgradable_read_owned_async"),
    RwLockUpgradableReadOwnedUntil("upgradable_read_owned_async_until")
}
