//! The mutex: its value, its guards and the ways to lock.
//!
//! The word and its state transitions are in `raw_mutex/`. This folder adds the value: `lock.rs` is the type, `guard.rs` and
//! `mapped.rs` the guards that give access to the value, `grid.rs` the ways to lock, `futures.rs` what the `_async` methods
//! return, and how guards release for a while, `owned.rs` and `grid_owned.rs` the same over an `Arc`.
//!
//! # Invariants
//! The unsafe code of this folder rests on these:
//!
//! 1. A guard, of whatever kind, exists only while the raw mutex is held on its behalf. Each acquisition makes one guard; a
//!    function that makes another guard from a guard forgets the first. The drop of a guard releases the mutex, once. So there
//!    is one guard at a time.
//! 2. The value is accessed only through the guard, or by the owner of the mutex (`&mut`, or by value), and then there is no
//!    guard.
//! 3. The value stays where it is while there is a guard, because the guard borrows the mutex or has an `Arc` of it.

mod futures;
mod grid;
mod grid_owned;
mod guard;
mod lock;
mod mapped;
mod owned;

pub use futures::{MutexLock, MutexLockOwned, MutexLockOwnedUntil, MutexLockUntil};
pub use guard::MutexGuard;
pub use lock::Mutex;
pub use mapped::{MappedMutexGuard, OwnedMappedMutexGuard};
pub use owned::OwnedMutexGuard;
