//! The readers-writer lock: the public API, and the value that it protects.
//!
//! The word and its transitions are in `raw_rwlock`. This folder adds the value: `grid.rs` has the methods that acquire,
//! `guard.rs` and `mapped.rs` the guards, `map.rs` how those become these, `upgrade.rs` the upgrade from reading to writing, `let_go.rs` what releases the lock
//! for a while, `futures.rs` what the `_async` methods return, `read_ref.rs` why a reader's guard is covariant. Each is written
//! once for the three modes, borrowed and owned.
//!
//! # Invariants
//! The unsafe code of this folder rests on these:
//!
//! 1. There is a guard, of whatever kind, only for as long as the raw lock is held in its mode on its behalf. It is made from
//!    an acquisition that has no other guard; code that makes another guard from it forgets it. Its drop releases, once.
//! 2. So the writer's guard, where there is one, is the only one; and the value is changed only through it, or by an
//!    exclusive owner of the lock (`&mut`, or by value), and then there is no guard.
//! 3. The value stays where it is while there is a guard, because the guard borrows the lock or has an `Arc` of it.
//! 4. A guard that is covariant in the value gives no way to write: neither through itself nor through the lock, which it does
//!    not give access to.

mod futures;
mod grid;
mod guard;
mod let_go;
mod lock;
mod map;
mod mapped;
mod read_ref;
mod upgrade;

pub use futures::{
    RwLockRead, RwLockReadOwned, RwLockReadOwnedUntil, RwLockReadUntil, RwLockUpgradableRead,
    RwLockUpgradableReadOwned, RwLockUpgradableReadOwnedUntil, RwLockUpgradableReadUntil, RwLockWrite,
    RwLockWriteOwned, RwLockWriteOwnedUntil, RwLockWriteUntil,
};
pub use guard::{
    OwnedRwLockReadGuard, OwnedRwLockUpgradableReadGuard, OwnedRwLockWriteGuard, RwLockReadGuard,
    RwLockUpgradableReadGuard, RwLockWriteGuard,
};
pub use lock::RwLock;
pub use mapped::{
    MappedRwLockReadGuard, MappedRwLockWriteGuard, OwnedMappedRwLockReadGuard, OwnedMappedRwLockWriteGuard,
};
pub use upgrade::{
    NotUpgraded, RwLockUpgrade, RwLockUpgradeOwned, RwLockUpgradeOwnedUntil, RwLockUpgradeUntil,
};
