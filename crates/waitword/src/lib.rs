//! Locks that blocking threads and async tasks share: one FIFO wait queue for both, deadlines for both, no allocation per
//! wait, any executor.
//!
//! ```
//! use std::thread;
//! use waitword::Mutex;
//!
//! static LOG: Mutex<Vec<&str>> = Mutex::new(Vec::new());
//!
//! # smol::block_on(async {
//! // A thread blocks until it acquires the lock ...
//! let thread = thread::spawn(|| LOG.lock().push("from a thread"));
//! // ... and a task awaits the same lock.
//! LOG.lock_async().await.push("from a task");
//!
//! thread.join().unwrap();
//! assert_eq!(LOG.lock().len(), 2);
//! # });
//! ```
//!
//! [`guide::coming_from`] lists the counterparts of the methods of tokio, parking_lot, std and async-lock.
//!
//! # Which lock
//!
//! | type | waits for |
//! |---|---|
//! | [`Mutex`] | exclusive access to a value |
//! | [`RwLock`] | shared or exclusive access; upgradable reads |
//! | [`Condvar`] | a change of the value in a mutex. `notify_all` wakes tasks one by one (wait morphing) |
//! | [`Semaphore`] | one or several of *n* permits |
//! | [`Event`] | `notify_one` or `notify_all`. Stores at most one wakeup |
//! | [`WaitGroup`] | a count of workers that drops to zero |
//! | [`Barrier`] | *n* arrivals |
//! | [`OnceLock`], [`LazyLock`] | a value that is initialised once. `OnceLock` also takes async and fallible initialisers |
//! | [`keyed::KeyedMutex`], [`keyed::KeyedRwLock`] | access to a key, which has an entry only while it is held or waited for |
//! | [`keyed::OnceMap`] | a computation for the same key. Its value is stored, or shared and forgotten |
//! | [`word::AsyncLock`] | a lock word that JavaScript shares |
//! | [`wait`], [`wait_async`], [`notify_one`] | a notify on a word of memory: a futex for threads and tasks. More in [`word`] |
//!
//! [`guide::which_lock`] compares them, with examples. [`guide::must_not_block`] shows how to find calls that block in a task.
//!
//! # Names
//!
//! | name | meaning |
//! |---|---|
//! | `lock` | blocks the thread |
//! | `lock_async` | returns a future |
//! | `try_lock` | never waits |
//! | `lock_async().timeout(Duration)`, `.deadline(Instant)` | a future with a deadline |
//! | `lock_for(Duration)`, `lock_until(Instant)` | blocks the thread until a deadline |
//! | `lock_owned`, `try_lock_owned`, `lock_owned_async` | over an `Arc`: guard and future borrow nothing |
//!
//! Every future of a lock has `timeout` and `deadline`. The types of the futures are in [`future`], so that structs can store them.
//!
//! # Features
//! None is on by default.
//!
//! | feature | adds |
//! |---|---|
//! | `tokio` | The futures take part in tokio's [cooperative scheduling](https://docs.rs/tokio/latest/tokio/task/coop/). Their deadlines use tokio's clock while it is paused. No effect outside a tokio runtime. In a task, do not poll these futures in another executor's `block_on`: tokio does not renew the task's budget there, so once the budget is used up, they stay pending for ever. If a task has to block, use the plain methods (`lock`). |
//! | `lock_api` | the raw traits of the `lock_api` crate, version 0.4 (module `lock_api`) |
//! | `lock_api_05` | the raw traits of version 0.5 (module `lock_api_05`). Needs Rust 1.95. |
//! | `observe` | Records of who holds each lock and who made others wait, and timelines; each is switched on at run time. This feature makes each waiter larger. (The module [`observe`], which lists the waiters, needs neither this feature nor larger waiters.) |
//! | `serde` | `Serialize` and `Deserialize` for [`Mutex`], [`RwLock`], [`OnceLock`] and [`Poison`], as the value inside. Serializing a lock acquires it, and blocks. |
//!
//! # Guarantees
//! - **FIFO**: threads and tasks are queued in the order of arrival. A future keeps its position for as long as it lives.
//! - **Bounded barging, no starvation**: a release signals the head waiter. Until that waiter runs, barging acquirers may take the
//!   lock. When at most 200 µs have passed, the next release that reads the clock (at a mutex, every 16th) reserves it for the head waiter.
//!   `unlock_fair` reserves it at once.
//! - **No futurelock**: a future that is not polled delays the waiters behind it once, by one to two times [`STALL_TIMEOUT`]: 10 to 20 ms
//!   (at a semaphore up to 30 ms).
//! - **Cancel-safe**: dropping a future of a lock loses no wakeup, no permit and no lock. ([`wait_async`] on a word is *not* cancel-safe.)
//! - **No poisoning**, except by [`Poison`], which also notices a task that is dropped in the middle of a change.
//!
//! [`guide::what_holds`] has the exact bounds, and lists what these locks do not do.

#![deny(unsafe_code)]
// docs.rs shows which feature an item needs, and nothing else that the source asks: the interface is the same on every platform.
#![cfg_attr(
    docsrs,
    feature(doc_cfg),
    doc(auto_cfg(hide(
        waitword_loom,
        target_has_atomic = "32",
        target_has_atomic = "64",
        target_family = "wasm",
        target_os = "unknown"
    )))
)]

mod acquire;
mod async_lock;
mod barging_window;
mod barrier;
mod condition;
#[allow(unsafe_code)]
mod condvar;
mod coop;
mod deadline;
mod drive;
mod error;
mod event;
pub mod future;
mod guards;
pub mod guide;
mod handle;
mod holders;
#[allow(unsafe_code)]
mod kept;
pub mod keyed;
#[cfg(all(feature = "lock_api", not(waitword_loom)))]
pub mod lock_api;
#[cfg(all(feature = "lock_api_05", not(waitword_loom)))]
pub mod lock_api_05;
#[allow(unsafe_code)]
mod mutex;
mod not_a_future;
pub mod observe;
mod once;
mod poison;
mod raw_mutex;
mod raw_rwlock;
mod raw_semaphore;
#[cfg(all(any(feature = "lock_api", feature = "lock_api_05"), not(waitword_loom)))]
#[allow(unsafe_code)]
mod raw_traits;
#[allow(unsafe_code)]
mod rwlock;
mod semaphore;
#[cfg(feature = "serde")]
mod serde;
mod spins;
mod stall_timeout;
mod sync;
mod unlocked;
mod wait_group;
pub mod word;

pub use barrier::{Barrier, BarrierWaitResult};
pub use condvar::Condvar;
pub use condvar::guard::CondvarGuard;
pub use error::{HeldBy, LockError, NotLocked};
pub use event::Event;
pub use event::listener::{EventListener, OwnedEventListener};
pub use mutex::Mutex;
pub use mutex::guard::{MappedMutexGuard, MutexGuard, OwnedMappedMutexGuard, OwnedMutexGuard};
pub use once::OnceLock;
pub use once::lazy::LazyLock;
pub use poison::{Poison, PoisonGuard, Poisoned};
pub use rwlock::RwLock;
pub use rwlock::guard::{
    OwnedRwLockReadGuard, OwnedRwLockUpgradableReadGuard, OwnedRwLockWriteGuard, RwLockReadGuard,
    RwLockUpgradableReadGuard, RwLockWriteGuard,
};
pub use rwlock::mapped::{
    MappedRwLockReadGuard, MappedRwLockWriteGuard, OwnedMappedRwLockReadGuard, OwnedMappedRwLockWriteGuard,
};
pub use rwlock::upgrade::NotUpgraded;
pub use semaphore::Semaphore;
pub use semaphore::error::{AcquireError, Closed, TryAcquireError};
pub use semaphore::permit::{OwnedSemaphorePermit, SemaphorePermit};
#[cfg(not(waitword_loom))]
#[doc(hidden)]
pub use stall_timeout::disable_stall_timeout;
pub use stall_timeout::{LONGEST_STALL_TIMEOUT, STALL_TIMEOUT};
pub use wait_group::WaitGroup;
pub use wait_group::token::{OwnedWaitGroupToken, WaitGroupToken};
#[cfg(not(any(waitword_loom, all(target_family = "wasm", target_os = "unknown"))))]
pub use waitword_core::timer;
pub use waitword_core::{AllowBlocking, ForbidBlocking, allow_blocking, forbid_blocking, may_block, time};
pub use word::{
    notify_all, notify_many, notify_one, wait, wait_async, wait_async_for, wait_async_until, wait_for,
    wait_until,
};

#[cfg(doctest)]
#[path = "../tests/doc/refused.rs"]
mod refused;

/// Compiles and runs the README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
