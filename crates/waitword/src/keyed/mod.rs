//! Locks by key: a mutex, a readers-writer lock and a computation per key. A key has an entry only while it is in use.
//!
//! | | per key |
//! |---|---|
//! | [`KeyedMutex`] | one holder at a time |
//! | [`KeyedRwLock`] | many readers or one writer |
//! | [`OnceMap`] | one computation for all concurrent callers. Its value is stored, or shared and forgotten |
//!
//! Pass a key by value, or as a [`ByRef`], which is cloned only for a new entry.

// `Lead` and `Access` are public because they bound public types. Nobody else can implement them: what they name is not public.
#![allow(private_bounds, private_interfaces)]

mod guard;
mod key;
mod locks;
mod map;
mod once_map;
#[allow(unsafe_code)]
mod uses;

pub use self::guard::{Access, Exclusive, KeyedAcquire, KeyedGuard, Shared};
pub use self::key::{ByRef, Key};
pub use self::locks::{KeyedMutex, KeyedRwLock};
pub use self::once_map::OnceMap;
