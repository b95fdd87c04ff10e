//! Locks that blocking threads and async tasks take from one and the same queue.
//!
//! [`AsyncLock`] is taken with [`lock`](AsyncLock::lock) by a thread and with
//! [`lock_async`](AsyncLock::lock_async) by a task, and both stand in one first-in-first-out line, with timeouts on
//! either side and without an allocation per wait. It fits into one 32-bit word, its own or one of a block of memory
//! that others share: a Rust thread, a task and a script can take turns on the same lock.
//!
//! ```
//! use std::sync::Arc;
//! use waitword::AsyncLock;
//!
//! # smol::block_on(async {
//! let lock = Arc::new(AsyncLock::new());
//!
//! let thread = std::thread::spawn({
//!     let lock = Arc::clone(&lock);
//!     move || {
//!         lock.lock();
//!         // Here this thread is alone.
//!         lock.unlock()
//!     }
//! });
//! // A task runs a callback under the lock; its thread is not blocked meanwhile.
//! let answer = lock.execute_locked(|| 42).await;
//! assert_eq!(answer, 42);
//! assert_eq!(thread.join().unwrap(), Ok(()));
//! # });
//! ```
//!
//! | what | waits for |
//! |---|---|
//! | [`Mutex`] | its turn, for a value that one at a time can reach |
//! | [`AsyncLock`] | its turn; on a word that a script may share |
//! | [`Event`] | somebody to say that something has happened: `notify_one`, `notify_all` |
//! | [`WaitGroup`] | all who are at work to be done |
//! | [`Barrier`] | all to arrive |
//! | [`OnceLock`], [`LazyLock`] | the one who makes a value |
//!
//! # Names
//! A plain name blocks the thread (`lock`), `_async` is a future (`lock_async().await`), `try_` never waits,
//! `_for(Duration)` and `_until(Instant)` give up. A thread that must not sleep says so with [`forbid_blocking`].
//!
//! # The word level
//! What the locks are made of is here too: [`wait`], [`wait_async`], [`notify_one`] and the rest of `waitword-core`
//! work on any atomic word of 32 or 64 bits, and tell what `Atomics.wait` and its siblings tell a script.
//!
//! # Where to read on
//! `raw_lock.rs` has the three states of the word and all that happens to it; `acquire/` the one loop by which
//! everybody waits for it, and the races it has to win; `async_lock.rs` what you call. For the mutex these are
//! `raw_mutex.rs`, the same loop, and `mutex/`.
//!
//! The others take nothing from each other while they wait. Their loop is in `condition/`, and each has a folder: what
//! you call in `mod.rs`, its state words and their races in `raw.rs`.

#![deny(unsafe_code)]

mod acquire;
mod async_lock;
mod barrier;
mod clock;
mod condition;
#[allow(unsafe_code)]
mod condvar;
mod error;
mod event;
mod execute;
#[cfg(all(feature = "lock_api", not(loom)))]
#[allow(unsafe_code)]
pub mod lock_api;
mod lock_async;
#[allow(unsafe_code)]
mod mutex;
mod once;
mod pace;
mod patience;
mod poison;
mod raw_lock;
mod raw_mutex;
mod raw_rwlock;
mod raw_semaphore;
#[allow(unsafe_code)]
mod rwlock;
mod semaphore;
mod sync;
mod wait_group;

pub use async_lock::AsyncLock;
pub use barrier::{Barrier, BarrierWait, BarrierWaitResult, BarrierWaitUntil};
pub use condvar::{
    Condvar, CondvarGuard, CondvarWait, CondvarWaitUntil, CondvarWaitWhile, CondvarWaitWhileUntil,
};
pub use error::{LockError, NotLocked};
pub use event::{Event, EventWait, EventWaitUntil};
pub use lock_async::{LockAsync, LockAsyncUntil};
pub use mutex::{
    MappedMutexGuard, Mutex, MutexGuard, MutexLock, MutexLockOwned, MutexLockOwnedUntil, MutexLockUntil,
    OwnedMappedMutexGuard, OwnedMutexGuard,
};
pub use once::{LazyForce, LazyForceUntil, LazyLock, OnceLock, OnceWait, OnceWaitUntil};
pub use patience::{LONGEST_PATIENCE, PATIENCE};
pub use poison::{Poison, PoisonGuard, Poisoned};
pub use rwlock::{
    MappedRwLockReadGuard, MappedRwLockWriteGuard, NotUpgraded, OwnedMappedRwLockReadGuard,
    OwnedMappedRwLockWriteGuard, OwnedRwLockReadGuard, OwnedRwLockUpgradableReadGuard, OwnedRwLockWriteGuard,
    RwLock, RwLockRead, RwLockReadGuard, RwLockReadOwned, RwLockReadOwnedUntil, RwLockReadUntil,
    RwLockUpgradableRead, RwLockUpgradableReadGuard, RwLockUpgradableReadOwned,
    RwLockUpgradableReadOwnedUntil, RwLockUpgradableReadUntil, RwLockUpgrade, RwLockUpgradeOwned,
    RwLockUpgradeOwnedUntil, RwLockUpgradeUntil, RwLockWrite, RwLockWriteGuard, RwLockWriteOwned,
    RwLockWriteOwnedUntil, RwLockWriteUntil,
};
pub use semaphore::{
    AcquireError, Closed, OwnedSemaphorePermit, Semaphore, SemaphoreAcquire, SemaphoreAcquireOwned,
    SemaphoreAcquireOwnedUntil, SemaphoreAcquireUntil, SemaphorePermit, TryAcquireError,
};
pub use wait_group::{OwnedWaitGroupToken, WaitGroup, WaitGroupToken, WaitGroupWait, WaitGroupWaitUntil};

pub use waitword_core::{
    Alarm, At, Cancelled, ForbidBlocking, Inbox, InboxWait, Interrupt, Interrupted, Location, Masked,
    Masked64, Outcome, Parker, Table, WaitAsync, WaitAsyncUntil, Word, call_one, forbid_blocking, may_block,
    notify_all, notify_many, notify_one, notify_one_or_replace, protocol, replace_and_notify_all, wait,
    wait_async, wait_async_for, wait_async_until, wait_for, wait_interruptible, wait_until,
};

/// The README's example runs.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
