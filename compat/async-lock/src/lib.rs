//! The API of async-lock 3 over waitword's locks, for `[patch.crates-io]`: the tasks of a program, and the threads that use the `_blocking` forms,
//! wait in waitword's queues, and `WAITWORD_OBSERVE` shows them, without a change of its source.
//!
//! What a program may notice:
//! - **It needs the standard library**: the features `std` and `loom` change nothing.
//! - **A [`RwLock`]** lets readers in while others read, although a writer waits: eight at the most, or those of about a millisecond if these are
//!   more. async-lock's lets none in, except while the writer waits for an upgradable reader: then it lets all in. Those that wait here get in
//!   in FIFO order; with async-lock, waiting readers and writers overtake one another.
//! - **A future that is polled after it was ready** panics. With async-lock some acquire once more, as [`futures::Read`] and
//!   [`futures::Acquire`] do.
//! - **`Debug`** shows other fields of a [`Barrier`], a [`Semaphore`], a [`SemaphoreGuard`] and [`futures::BarrierWait`]. While its initialiser runs,
//!   a [`OnceCell`] is `<uninitialized>`, and `<initializing>` with async-lock.
//! - **A [`Barrier`]** counts only those that wait: a future that is dropped has not arrived.
//! - **A [`Semaphore`]** has 2⁶¹ − 1 permits at the most. One that is made with more has so many, and [`Semaphore::add_permits`] panics beyond.
//! - **A [`RwLockReadGuardArc`], and futures** are not covariant in the value.
//! - **The oldest Rust** is 1.88, and 1.85 for the original.
//! - **Where waitword forbids blocking**, a `_blocking` form that would have to wait panics.
//! - **In a global allocator** these locks must not be used: the first acquisition reads the environment, which allocates.

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

/// The futures by their names. All are cancel-safe, and allocate nothing.
pub mod futures {
    pub use crate::barrier::BarrierWait;
    pub use crate::mutex::{Lock, LockArc};
    pub use crate::rwlock::{
        Read, ReadArc, UpgradableRead, UpgradableReadArc, Upgrade, UpgradeArc, Write, WriteArc,
    };
    pub use crate::semaphore::{Acquire, AcquireArc};
}
