//! Locks that blocking threads and async tasks take from one and the same queue.
//!
//! A [`Mutex`] is locked with [`lock`](Mutex::lock) by a thread and with [`lock_async`](Mutex::lock_async) by a task, and both
//! stand in one first-in-first-out line. So it is with all that is in this crate: threads and tasks on the same object, with
//! deadlines on either side, without an allocation per wait, on any executor.
//!
//! ```
//! use std::thread;
//! use waitword::Mutex;
//!
//! static LOG: Mutex<Vec<&str>> = Mutex::new(Vec::new());
//!
//! # smol::block_on(async {
//! // A thread, which blocks until it has the lock, ...
//! let thread = thread::spawn(|| LOG.lock().push("a thread was here"));
//! // ... and a task, which does not block its thread.
//! LOG.lock_async().await.push("a task was here");
//!
//! thread.join().unwrap();
//! assert_eq!(LOG.lock().len(), 2);
//! # });
//! ```
//!
//! # Which lock do I want?
//!
//! | what | waits for |
//! |---|---|
//! | [`Mutex`] | its turn, for a value that one at a time can reach |
//! | [`RwLock`] | its turn, together with others who read or alone to write |
//! | [`Condvar`] | others to change what is in a mutex |
//! | [`Semaphore`] | one of so many permits, or several |
//! | [`Event`] | somebody to say that something has happened: `notify_one`, `notify_all` |
//! | [`WaitGroup`] | all who are at work to be done |
//! | [`Barrier`] | all to arrive |
//! | [`OnceLock`], [`LazyLock`] | the one who makes a value |
//! | [`AsyncLock`] | its turn; on a word that a script may share |
//!
//! [`guide::which_lock`] tells apart those that are easily confused, with an example each. [`guide::coming_from`] has what to write in
//! place of tokio's, std's, parking_lot's and async-lock's, [`guide::must_not_block`] how code that blocks in a task is found.
//!
//! # Names
//! A plain name blocks the thread (`lock`), `_async` is a future (`lock_async().await`), `try_` never waits,
//! `_for(Duration)` and `_until(Instant)` give up, `_owned` has a share in an `Arc`: guards, permits and futures that borrow nothing
//! and can be kept in a struct. A thread that must not sleep says so with
//! [`forbid_blocking`].
//!
//! # Features
//! None is on by default.
//! - `tokio`: the futures take part in tokio's [cooperative scheduling](https://docs.rs/tokio/latest/tokio/task/coop/), as its own do:
//!   a task that completes one after the other without ever having to wait yields when its budget is exhausted. Without a runtime of
//!   tokio's it changes nothing. As with tokio's own futures, another executor's `block_on` within a task gets no new budget and may
//!   wait for ever: block with the plain names there.
//! - `lock_api`: the raw traits of the crate of that name, for its ecosystem of guards.
//!
//! # What holds for all
//! - **One line**, first come first served, whoever it is. A future keeps its place for as long as it lives.
//! - **Overtaking is bounded.** A lock is not handed over, but the first in line is called; until it comes, whoever runs may take it.
//!   After 200 µs it is kept for the first in line.
//! - **A future that nobody polls keeps nobody from a lock for good.** Those behind it are called in its place after [`STALL_TIMEOUT`], 10
//!   to 20 ms.
//! - **To drop a future loses nothing**: no wakeup, no permit, no lock.
//! - **Nothing is poisoned.** Where it matters, a [`Poison`] goes into the lock.
//!
//! [`guide::what_holds`] says each of these exactly, with the bounds; and what these locks are not.
//!
//! # The word level
//! What the locks are made of is here too: [`wait`], [`wait_async`], [`notify_one`] and the rest of `waitword-core`
//! work on any atomic word of 32 or 64 bits, and tell what `Atomics.wait` and its siblings tell a script.
//!
//! # Features
//! None is on by default.
//! - `lock_api`: the raw traits of the `lock_api` crate, for its ecosystem of guards (the module `lock_api`).
//! - `serde`: [`Mutex`], [`RwLock`], [`OnceLock`] and [`Poison`] as the values in them. A lock is serialized under its guard, which
//!   blocks the thread if it has to wait.
//!
//! # Where to read on in the source
//! Those that take something from each other ([`Mutex`], [`RwLock`], [`Semaphore`], [`AsyncLock`]) have a state word
//! (`raw_mutex.rs`, `raw_rwlock/`, `raw_semaphore/`, `async_lock/raw.rs`), with its table of states and the races that it has to win; the one loop by which everybody
//! waits for it (`acquire/`); and what you call, in a folder of its own. A [`Condvar`] moves those whom it notifies into
//! the line of the mutex (`condvar/raw.rs`).
//!
//! The others take nothing from each other while they wait. Their loop is in `condition/`, and each has a folder: what
//! you call in `mod.rs`, its state words and their races in `raw.rs`.

#![deny(unsafe_code)]

mod acquire;
mod async_lock;
mod barging_window;
mod barrier;
mod bump;
mod condition;
#[allow(unsafe_code)]
mod condvar;
mod coop;
mod error;
mod event;
pub mod guide;
#[cfg(all(feature = "lock_api", not(waitword_loom)))]
#[allow(unsafe_code)]
pub mod lock_api;
#[allow(unsafe_code)]
mod mutex;
mod not_a_future;
mod once;
mod poison;
mod raw_mutex;
mod raw_rwlock;
mod raw_semaphore;
#[allow(unsafe_code)]
mod rwlock;
mod semaphore;
#[cfg(feature = "serde")]
mod serde;
mod stall_timeout;
mod sync;
mod unlocked;
mod wait_group;

pub use async_lock::{AsyncLock, LockAsync, LockAsyncUntil};
pub use barrier::{
    Barrier, BarrierWait, BarrierWaitOwned, BarrierWaitOwnedUntil, BarrierWaitResult, BarrierWaitUntil,
};
pub use condvar::{
    Condvar, CondvarGuard, CondvarWait, CondvarWaitOwned, CondvarWaitOwnedUntil, CondvarWaitUntil,
    CondvarWaitWhile, CondvarWaitWhileOwned, CondvarWaitWhileOwnedUntil, CondvarWaitWhileUntil,
};
pub use error::{LockError, NotLocked};
pub use event::{
    Event, EventListener, EventNotified, EventWait, EventWaitOwned, EventWaitOwnedUntil, EventWaitUntil,
    OwnedEventListener,
};
pub use mutex::{
    MappedMutexGuard, Mutex, MutexGuard, MutexLock, MutexLockOwned, MutexLockOwnedUntil, MutexLockUntil,
    OwnedMappedMutexGuard, OwnedMutexGuard,
};
pub use once::{LazyForce, LazyForceUntil, LazyLock, OnceLock, OnceWait, OnceWaitUntil};
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
#[cfg(not(any(waitword_loom, waitword_shuttle)))]
#[doc(hidden)]
pub use stall_timeout::rely_on_signals_alone;
pub use stall_timeout::{LONGEST_STALL_TIMEOUT, STALL_TIMEOUT};
pub use wait_group::{
    OwnedWaitGroupToken, WaitGroup, WaitGroupToken, WaitGroupWait, WaitGroupWaitOwned,
    WaitGroupWaitOwnedUntil, WaitGroupWaitUntil,
};

pub use waitword_core::{
    Alarm, At, Cancelled, ForbidBlocking, Inbox, InboxWait, Interrupt, Interrupted, Location, Masked,
    Masked64, Outcome, Parker, Table, WaitAsync, WaitAsyncUntil, Word, allow_blocking, forbid_blocking,
    may_block, notify_all, notify_last, notify_last_or_replace, notify_many, notify_one,
    notify_one_or_replace, protocol, replace_and_notify_all, signal_one, wait, wait_async, wait_async_for,
    wait_async_until, wait_for, wait_interruptible, wait_until,
};

#[cfg(doctest)]
mod refused;

/// Compiles and runs the README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
