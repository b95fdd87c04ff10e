//! The mutex: its value, its guards and the ways to lock.
//!
//! The word and its state transitions are in `raw_mutex/`. This folder adds the value: `lock.rs` is the type, `grid.rs` the ways to lock,
//! `guard.rs` the guards, and the futures that end with them. The invariants of the unsafe code are in `guards/mod.rs`.

mod grid;
mod guard;
mod lock;

pub use guard::{
    MappedMutexGuard, MutexGuard, MutexLock, MutexLockOwned, MutexLockOwnedUntil, MutexLockUntil,
    OwnedMappedMutexGuard, OwnedMutexGuard,
};
pub use lock::Mutex;
