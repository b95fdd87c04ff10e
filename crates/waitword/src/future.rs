//! The futures by their names, to keep one in a struct or to write its type.
//!
//! Each is made by the method that its page names. All of them are cancel-safe, need no particular executor and allocate nothing;
//! those with `Owned` in their names hold an `Arc` of the lock and borrow nothing, those with `Until` have a deadline. A
//! future with a deadline and the one without are one type: `MutexLockUntil<'a, T>` is `MutexLock<'a, T, Until>`.
//!
//! ```
//! use std::pin::Pin;
//! use std::sync::Arc;
//! use waitword::Mutex;
//! use waitword::future::MutexLockOwned;
//!
//! /// Keeps its position in the queue between polls.
//! struct Connection {
//!     locking: Pin<Box<MutexLockOwned<u32>>>,
//! }
//!
//! # smol::block_on(async {
//! let mutex = Arc::new(Mutex::new(1));
//! let connection = Connection { locking: Box::pin(mutex.lock_owned_async()) };
//! assert_eq!(*connection.locking.await, 1);
//! # });
//! ```

pub use crate::async_lock::{LockAsync, LockAsyncUntil};
pub use crate::barrier::{BarrierWait, BarrierWaitOwned, BarrierWaitOwnedUntil, BarrierWaitUntil};
pub use crate::condvar::futures::{
    CondvarWait, CondvarWaitOwned, CondvarWaitOwnedUntil, CondvarWaitUntil, CondvarWaitWhile,
    CondvarWaitWhileOwned, CondvarWaitWhileOwnedUntil, CondvarWaitWhileUntil,
};
pub use crate::deadline::{Deadline, NoDeadline, Until};
pub use crate::event::waits::{EventWait, EventWaitOwned, EventWaitOwnedUntil, EventWaitUntil};
pub use crate::mutex::guard::{MutexLock, MutexLockOwned, MutexLockOwnedUntil, MutexLockUntil};
pub use crate::once::lazy::{LazyForce, LazyForceUntil};
pub use crate::once::{OnceWait, OnceWaitUntil};
pub use crate::rwlock::guard::{
    RwLockRead, RwLockReadOwned, RwLockReadOwnedUntil, RwLockReadUntil, RwLockUpgradableRead,
    RwLockUpgradableReadOwned, RwLockUpgradableReadOwnedUntil, RwLockUpgradableReadUntil, RwLockWrite,
    RwLockWriteOwned, RwLockWriteOwnedUntil, RwLockWriteUntil,
};
pub use crate::rwlock::upgrade::{
    RwLockUpgrade, RwLockUpgradeOwned, RwLockUpgradeOwnedUntil, RwLockUpgradeUntil,
};
pub use crate::semaphore::futures::{
    SemaphoreAcquire, SemaphoreAcquireOwned, SemaphoreAcquireOwnedUntil, SemaphoreAcquireUntil,
};
pub use crate::wait_group::{WaitGroupWait, WaitGroupWaitOwned, WaitGroupWaitOwnedUntil, WaitGroupWaitUntil};
