//! The types with a value in them: `lock_api`'s, over the raw locks.

use std::num::NonZeroUsize;

use crate::{RawFairMutex, RawMutex, RawRwLock};

/// A mutex. Threads that wait get it in FIFO order; a running thread may barge, for 200 µs at the most.
pub type Mutex<T> = lock_api::Mutex<RawMutex, T>;
/// The guard of a [`Mutex`].
pub type MutexGuard<'a, T> = lock_api::MutexGuard<'a, RawMutex, T>;
/// The guard of a part of what is in a [`Mutex`].
pub type MappedMutexGuard<'a, T> = lock_api::MappedMutexGuard<'a, RawMutex, T>;

/// A mutex that nobody barges into while threads wait: each release reserves it for the first of them.
pub type FairMutex<T> = lock_api::Mutex<RawFairMutex, T>;
/// The guard of a [`FairMutex`].
pub type FairMutexGuard<'a, T> = lock_api::MutexGuard<'a, RawFairMutex, T>;
/// The guard of a part of what is in a [`FairMutex`].
pub type MappedFairMutexGuard<'a, T> = lock_api::MappedMutexGuard<'a, RawFairMutex, T>;

/// A mutex that its holder may lock again.
pub type ReentrantMutex<T> = lock_api::ReentrantMutex<RawMutex, RawThreadId, T>;
/// The guard of a [`ReentrantMutex`].
pub type ReentrantMutexGuard<'a, T> = lock_api::ReentrantMutexGuard<'a, RawMutex, RawThreadId, T>;
/// The guard of a part of what is in a [`ReentrantMutex`].
pub type MappedReentrantMutexGuard<'a, T> = lock_api::MappedReentrantMutexGuard<'a, RawMutex, RawThreadId, T>;

/// A lock for many readers or one writer. All that wait get it in FIFO order; while others read, a few readers may barge past a writer.
pub type RwLock<T> = lock_api::RwLock<RawRwLock, T>;
/// The guard of a reader.
pub type RwLockReadGuard<'a, T> = lock_api::RwLockReadGuard<'a, RawRwLock, T>;
/// The guard of the writer.
pub type RwLockWriteGuard<'a, T> = lock_api::RwLockWriteGuard<'a, RawRwLock, T>;
/// The guard of the reader that may become the writer.
pub type RwLockUpgradableReadGuard<'a, T> = lock_api::RwLockUpgradableReadGuard<'a, RawRwLock, T>;
/// The guard of a reader of a part.
pub type MappedRwLockReadGuard<'a, T> = lock_api::MappedRwLockReadGuard<'a, RawRwLock, T>;
/// The guard of the writer of a part.
pub type MappedRwLockWriteGuard<'a, T> = lock_api::MappedRwLockWriteGuard<'a, RawRwLock, T>;

/// Numbers of threads, for [`ReentrantMutex`].
pub struct RawThreadId;

// SAFETY: the address of a byte that each thread has, so no two threads that run have the same, and none is null.
unsafe impl lock_api::GetThreadId for RawThreadId {
    const INIT: Self = Self;

    fn nonzero_thread_id(&self) -> NonZeroUsize {
        thread_local!(static BYTE: u8 = const { 0 });
        BYTE.with(|byte| NonZeroUsize::new(std::ptr::from_ref(byte).addr()).expect("no reference is null"))
    }
}
