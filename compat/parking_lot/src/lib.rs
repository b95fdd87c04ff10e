//! The API of parking_lot 0.12, implemented with waitword's locks, for `[patch.crates-io]`.
//!
//! A program that is patched this way needs no change of its source: its threads wait in waitword's queues, and `WAITWORD_OBSERVE` shows them.
//!
//! # Differences from parking_lot
//! - **[`RwLock`]**: while others read, readers acquire the lock although a writer waits: at most eight of them, or as many as arrive within
//!   about a millisecond if these are more. Later readers wait behind the writer, so the writer does not starve. With parking_lot, no reader
//!   acquires the lock while a writer waits, except while that writer waits for an upgradable reader: then all do.
//! - **Sizes**: a [`Mutex`] takes 4 bytes besides its value, a [`RwLock`] 16, a [`Once`] 8.
//! - **Destructors**: dropping a lock, a [`Condvar`] or a [`Once`] informs the observer. Otherwise the observer would take the next lock at the
//!   same address for the same lock, and report deadlocks that do not exist. parking_lot's types have no destructor. So a `const fn` cannot
//!   drop a value of these types, and while the destructor of a thread-local runs, a lock in another thread-local may already be dropped.
//! - **Where waitword forbids blocking** (`waitword::forbid_blocking`): a mutex or a readers-writer lock that would block aborts the process,
//!   also when `unlocked` locks it again. An upgrade, a [`Condvar`] and a [`Once`] panic. Methods with a timeout fail at once.
//! - **Global allocators** must not use these locks, because the first acquisition reads the environment, which allocates.
//! - **Rust version**: 1.88 or later; parking_lot needs 1.71.
//! - **`deadlock::check_deadlock`** shows source lines, not stacks.
//!
//! The features `nightly` and `hardware-lock-elision` have no effect.

mod condvar;
#[cfg(feature = "deadlock_detection")]
pub mod deadlock;
mod observe;
mod once;
mod raw;
mod raw_mutex;
mod raw_rwlock;
mod recursive;
mod types;

pub use ::lock_api;
#[cfg(feature = "arc_lock")]
pub use ::lock_api::{
    ArcMutexGuard, ArcReentrantMutexGuard, ArcRwLockReadGuard, ArcRwLockUpgradableReadGuard,
    ArcRwLockWriteGuard,
};
pub use condvar::{Condvar, WaitTimeoutResult};
pub use once::{Once, OnceState};
pub use raw_mutex::{RawFairMutex, RawMutex};
pub use raw_rwlock::RawRwLock;
pub use types::*;

// The parameters of the files that this crate shares with 0.13, for `lock_api` 0.4: the module of waitword that implements it, the return types of
// methods, the guard state, and the associated types.
use waitword::lock_api as inner;
type Held = ();
type Tried = bool;
type TriedUpgrade = bool;
macro_rules! of_this_version {
    ($implement:ident) => {
        $implement! { (); [type GuardMarker = crate::raw::GuardMarker;] [type GuardMarker = crate::raw::GuardMarker;] [] }
    };
}
use of_this_version;

/// Creates an unlocked mutex around `value`. [`Mutex::new`] does the same, and is a `const fn` too.
pub const fn const_mutex<T>(value: T) -> Mutex<T> {
    Mutex::new(value)
}

/// Creates an unlocked fair mutex around `value`. [`FairMutex::new`](Mutex::new) does the same, and is a `const fn` too.
pub const fn const_fair_mutex<T>(value: T) -> FairMutex<T> {
    FairMutex::new(value)
}

/// Creates an unlocked reentrant mutex around `value`. [`ReentrantMutex::new`] does the same, and is a `const fn` too.
pub const fn const_reentrant_mutex<T>(value: T) -> ReentrantMutex<T> {
    ReentrantMutex::new(value)
}

/// Creates an unlocked readers-writer lock around `value`. [`RwLock::new`] does the same, and is a `const fn` too.
pub const fn const_rwlock<T>(value: T) -> RwLock<T> {
    RwLock::new(value)
}
