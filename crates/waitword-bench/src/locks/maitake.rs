//! maitake-sync's locks.

use std::future::Future;

use maitake_sync::semaphore::Permit;
use maitake_sync::{MutexGuard, RwLockReadGuard, RwLockWriteGuard};

use super::{AsyncMutex, AsyncRwLock, AsyncSemaphore, Mutex, RwLock, Semaphore};

pub(crate) type Maitake = maitake_sync::Mutex<()>;

impl Mutex for Maitake {
    const NAME: &'static str = "maitake-sync";

    type Guard<'a> = MutexGuard<'a, ()>;

    fn new() -> Self {
        Maitake::new(())
    }

    #[inline]
    fn try_lock(&self) -> Option<Self::Guard<'_>> {
        self.try_lock()
    }
}

impl AsyncMutex for Maitake {
    #[inline]
    fn lock_async(&self) -> impl Future<Output = Self::Guard<'_>> + Send {
        self.lock()
    }
}

pub(crate) type MaitakeRwLock = maitake_sync::RwLock<()>;

impl RwLock for MaitakeRwLock {
    const NAME: &'static str = "maitake-sync";

    type Read<'a> = RwLockReadGuard<'a, ()>;
    type Write<'a> = RwLockWriteGuard<'a, ()>;

    fn new() -> Self {
        MaitakeRwLock::new(())
    }

    #[inline]
    fn try_read(&self) -> Option<Self::Read<'_>> {
        self.try_read()
    }

    #[inline]
    fn try_write(&self) -> Option<Self::Write<'_>> {
        self.try_write()
    }
}

impl AsyncRwLock for MaitakeRwLock {
    #[inline]
    fn read_async(&self) -> impl Future<Output = Self::Read<'_>> + Send {
        self.read()
    }

    #[inline]
    fn write_async(&self) -> impl Future<Output = Self::Write<'_>> + Send {
        self.write()
    }
}

pub(crate) type MaitakeSemaphore = maitake_sync::Semaphore;

impl Semaphore for MaitakeSemaphore {
    const NAME: &'static str = "maitake-sync";

    type Permit<'a> = Permit<'a>;

    fn new(permits: usize) -> Self {
        MaitakeSemaphore::new(permits)
    }

    #[inline]
    fn try_acquire(&self) -> Option<Self::Permit<'_>> {
        self.try_acquire(1).ok()
    }
}

impl AsyncSemaphore for MaitakeSemaphore {
    #[inline]
    async fn acquire_async(&self) -> Self::Permit<'_> {
        self.acquire(1).await.expect("nobody closes it")
    }
}
