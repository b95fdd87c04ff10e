//! The API of async-lock 3, implemented with waitword's locks, for `[patch.crates-io]`.
//!
//! A program that is patched this way needs no change of its source: its tasks, and its threads in the `_blocking` methods, wait in waitword's
//! queues, and `WAITWORD_OBSERVE` shows them.
//!
//! # Differences from async-lock
//! - **Standard library**: always needed. The features `std` and `loom` have no effect.
//! - **[`RwLock`], barging**: while others read, readers acquire the lock although a writer waits: at most eight of them, or as many as arrive
//!   within about a millisecond if these are more. With async-lock, no reader acquires the lock while a writer waits, except while that writer
//!   waits for an upgradable reader: then all do.
//! - **[`RwLock`], order**: waiters acquire the lock in FIFO order. With async-lock, waiting readers and writers barge past one another.
//! - **Futures that are polled again after they were ready** panic. With async-lock, some acquire once more, like [`futures::Read`] and
//!   [`futures::Acquire`].
//! - **`Debug`** shows other fields of [`Barrier`], [`Semaphore`], [`SemaphoreGuard`] and [`futures::BarrierWait`]. A [`OnceCell`] whose initialiser
//!   runs is shown as `<uninitialized>`, and with async-lock as `<initializing>`.
//! - **[`Barrier`]**: a future that is dropped has not arrived. Only parties that still wait are counted.
//! - **[`Semaphore`]**: at most 2⁶¹ − 1 permits (2²⁹ − 1 on 32-bit targets). [`Semaphore::new`] with more creates a semaphore with the maximum.
//!   [`Semaphore::add_permits`] panics beyond the maximum.
//! - **Variance**: [`RwLockReadGuardArc`] and the futures are not covariant in the type of the value.
//! - **Rust version**: 1.88 or later; async-lock needs 1.85.
//! - **Where waitword forbids blocking** (`waitword::forbid_blocking`): a `_blocking` method that would block panics.
//! - **Global allocators** must not use these locks, because the first acquisition reads the environment, which allocates.

mod barrier;
mod mutex;
mod once_cell;
mod rwlock;
mod semaphore;
mod wrap;

pub use barrier::{Barrier, BarrierWaitResult};
pub use mutex::{Mutex, MutexGuard, MutexGuardArc};
pub use once_cell::OnceCell;
pub use rwlock::{
    RwLock, RwLockReadGuard, RwLockReadGuardArc, RwLockUpgradableReadGuard, RwLockUpgradableReadGuardArc,
    RwLockWriteGuard, RwLockWriteGuardArc,
};
pub use semaphore::{Semaphore, SemaphoreGuard, SemaphoreGuardArc};

/// Named futures. All are cancel-safe, and none allocates.
pub mod futures {
    pub use crate::barrier::BarrierWait;
    pub use crate::mutex::{Lock, LockArc};
    pub use crate::rwlock::{
        Read, ReadArc, UpgradableRead, UpgradableReadArc, Upgrade, UpgradeArc, Write, WriteArc,
    };
    pub use crate::semaphore::{Acquire, AcquireArc};
}
