//! The locks around a value, and their guards: `lock_api`'s types over the raw locks.

use std::num::NonZeroUsize;

use crate::{RawFairMutex, RawMutex, RawRwLock};

/// A mutual exclusion lock around a value.
///
/// # Fairness
/// Waiting threads acquire the mutex in FIFO order. Other threads may barge for a window of at most 200 µs.
pub type Mutex<T> = lock_api::Mutex<RawMutex, T>;
/// The guard of a locked [`Mutex`]. Dropping it releases the mutex.
pub type MutexGuard<'a, T> = lock_api::MutexGuard<'a, RawMutex, T>;
/// The guard of a locked [`Mutex`] that gives access to a part of the value.
pub type MappedMutexGuard<'a, T> = lock_api::MappedMutexGuard<'a, RawMutex, T>;

/// A mutual exclusion lock around a value, without barging.
///
/// # Fairness
/// Each release reserves the mutex for the thread that has waited longest. So no thread barges while others wait.
pub type FairMutex<T> = lock_api::Mutex<RawFairMutex, T>;
/// The guard of a locked [`FairMutex`]. Dropping it releases the mutex.
pub type FairMutexGuard<'a, T> = lock_api::MutexGuard<'a, RawFairMutex, T>;
/// The guard of a locked [`FairMutex`] that gives access to a part of the value.
pub type MappedFairMutexGuard<'a, T> = lock_api::MappedMutexGuard<'a, RawFairMutex, T>;

/// A mutual exclusion lock around a value that the thread that holds it may lock again.
pub type ReentrantMutex<T> = lock_api::ReentrantMutex<RawMutex, RawThreadId, T>;
/// The guard of a locked [`ReentrantMutex`]. Dropping the last guard of the thread releases the mutex.
pub type ReentrantMutexGuard<'a, T> = lock_api::ReentrantMutexGuard<'a, RawMutex, RawThreadId, T>;
/// The guard of a locked [`ReentrantMutex`] that gives access to a part of the value.
pub type MappedReentrantMutexGuard<'a, T> = lock_api::MappedReentrantMutexGuard<'a, RawMutex, RawThreadId, T>;

/// A readers-writer lock around a value: many readers at a time, or one writer.
///
/// # Fairness
/// Waiting threads, readers and writers alike, acquire the lock in FIFO order. While others read, a few readers may barge past a waiting writer
/// (the [crate's documentation](crate) says how many).
pub type RwLock<T> = lock_api::RwLock<RawRwLock, T>;
/// The guard of shared access to a [`RwLock`]. Dropping it releases the lock.
pub type RwLockReadGuard<'a, T> = lock_api::RwLockReadGuard<'a, RawRwLock, T>;
/// The guard of exclusive access to a [`RwLock`]. Dropping it releases the lock.
pub type RwLockWriteGuard<'a, T> = lock_api::RwLockWriteGuard<'a, RawRwLock, T>;
/// The guard of the upgradable read lock of a [`RwLock`]: it can be upgraded to exclusive access. Dropping it releases the lock.
pub type RwLockUpgradableReadGuard<'a, T> = lock_api::RwLockUpgradableReadGuard<'a, RawRwLock, T>;
/// The guard of shared access to a part of the value in a [`RwLock`].
pub type MappedRwLockReadGuard<'a, T> = lock_api::MappedRwLockReadGuard<'a, RawRwLock, T>;
/// The guard of exclusive access to a part of the value in a [`RwLock`].
pub type MappedRwLockWriteGuard<'a, T> = lock_api::MappedRwLockWriteGuard<'a, RawRwLock, T>;

/// Provides thread IDs for [`ReentrantMutex`].
pub struct RawThreadId;

// SAFETY: the ID is the address of a byte of the thread's thread-local storage. So no two running threads have the same ID, and none is zero.
unsafe impl lock_api::GetThreadId for RawThreadId {
    const INIT: Self = Self;

    fn nonzero_thread_id(&self) -> NonZeroUsize {
        thread_local!(static BYTE: u8 = const { 0 });
        BYTE.with(|byte| NonZeroUsize::new(std::ptr::from_ref(byte).addr()).expect("no reference is null"))
    }
}
