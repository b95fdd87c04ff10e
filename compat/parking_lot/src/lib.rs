//! The API of parking_lot 0.12 over waitword's locks, for `[patch.crates-io]`: the threads of a program wait in waitword's queues, and
//! `WAITWORD_OBSERVE` shows them, without a change of its source.
//!
//! What a program may notice:
//! - **A [`RwLock`]** lets readers in while others read, although a writer waits: eight at the most, or those of about a millisecond if these
//!   are more. Later ones wait behind the writer, so none starves. The original lets none in, except while the writer waits for an upgradable
//!   reader: then it lets all in.
//! - **Sizes**: a [`Mutex`] has 4 bytes besides its value, a [`RwLock`] 16, a [`Once`] 8.
//! - **The drop** of a lock, a [`Condvar`] or a [`Once`] tells the observer, which would otherwise take the next one at that address for it, and
//!   find deadlocks where there are none. The original's types need no drop. So a `const fn` cannot drop one of these; and when the
//!   destructor of a thread-local runs, a lock in another thread-local may be gone.
//! - **Where waitword forbids blocking**, a mutex or a readers-writer lock that would have to wait aborts the process, also if `unlocked` locks
//!   it again. An upgrade, a [`Condvar`] and a [`Once`] panic. What has a timeout fails at once.
//! - **In a global allocator** these locks must not be used: the first acquisition reads the environment, which allocates.
//! - **The oldest Rust** is 1.88, and 1.71 for the original.
//! - `deadlock::check_deadlock` shows sites, not stacks.
//!
//! The features `nightly` and `hardware-lock-elision` change nothing.

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

// What 0.4 of `lock_api` is to the files that 0.13 shares: its twin in waitword, what methods return, the guard state, the associated types.
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

/// [`Mutex::new`], from when that was no constant function.
pub const fn const_mutex<T>(value: T) -> Mutex<T> {
    Mutex::new(value)
}

/// [`FairMutex::new`](Mutex::new), from when that was no constant function.
pub const fn const_fair_mutex<T>(value: T) -> FairMutex<T> {
    FairMutex::new(value)
}

/// [`ReentrantMutex::new`], from when that was no constant function.
pub const fn const_reentrant_mutex<T>(value: T) -> ReentrantMutex<T> {
    ReentrantMutex::new(value)
}

/// [`RwLock::new`], from when that was no constant function.
pub const fn const_rwlock<T>(value: T) -> RwLock<T> {
    RwLock::new(value)
}
