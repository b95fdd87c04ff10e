//! The readers-writer lock: the public API, and the value that it protects.
//!
//! The word and its transitions are in `raw_rwlock`. This folder adds the value: `lock.rs` is the type, `grid.rs` has the methods that
//! acquire, `guard.rs` and `mapped.rs` the guards and the futures that end with them, `upgrade.rs` the upgrade from reading to writing,
//! `read_ref.rs` why a reader's guard is covariant. Each is written once for the three modes, borrowed and owned. The invariants of the
//! unsafe code are in `guards/mod.rs`.

mod grid;
mod guard;
mod lock;
mod mapped;
mod read_ref;
mod upgrade;

pub use guard::{
    OwnedRwLockReadGuard, OwnedRwLockUpgradableReadGuard, OwnedRwLockWriteGuard, RwLockRead, RwLockReadGuard,
    RwLockReadOwned, RwLockReadOwnedUntil, RwLockReadUntil, RwLockUpgradableRead, RwLockUpgradableReadGuard,
    RwLockUpgradableReadOwned, RwLockUpgradableReadOwnedUntil, RwLockUpgradableReadUntil, RwLockWrite,
    RwLockWriteGuard, RwLockWriteOwned, RwLockWriteOwnedUntil, RwLockWriteUntil,
};
pub use lock::RwLock;
pub use mapped::{
    MappedRwLockReadGuard, MappedRwLockWriteGuard, OwnedMappedRwLockReadGuard, OwnedMappedRwLockWriteGuard,
};
pub use upgrade::{
    NotUpgraded, RwLockUpgrade, RwLockUpgradeOwned, RwLockUpgradeOwnedUntil, RwLockUpgradeUntil,
};
