//! saa's locks, which have no guards. One and the same lock is a mutex and a read-write lock; a condition variable there is
//! none.

use super::{
    AsyncMutex, AsyncRwLock, AsyncSemaphore, BlockingMutex, BlockingRwLock, BlockingSemaphore, Mutex, RwLock,
    Semaphore,
};

pub(crate) struct Saa(saa::Lock);

pub(crate) struct Locked<'a>(&'a saa::Lock);

impl Drop for Locked<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.release_lock();
    }
}

impl Mutex for Saa {
    const NAME: &'static str = "saa";

    type Guard<'a> = Locked<'a>;

    fn new() -> Self {
        Self(saa::Lock::new())
    }

    #[inline]
    fn try_lock(&self) -> Option<Locked<'_>> {
        self.0.try_lock().is_ok().then(|| Locked(&self.0))
    }
}

impl BlockingMutex for Saa {
    #[inline]
    fn lock(&self) -> Locked<'_> {
        assert!(self.0.lock_sync(), "nobody poisons it");
        Locked(&self.0)
    }
}

impl AsyncMutex for Saa {
    #[inline]
    async fn lock_async(&self) -> Locked<'_> {
        assert!(self.0.lock_async().await, "nobody poisons it");
        Locked(&self.0)
    }
}

pub(crate) struct SaaRwLock(saa::Lock);

pub(crate) struct Shared<'a>(&'a saa::Lock);

impl Drop for Shared<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.release_share();
    }
}

impl RwLock for SaaRwLock {
    const NAME: &'static str = "saa";

    type Read<'a> = Shared<'a>;
    type Write<'a> = Locked<'a>;

    fn new() -> Self {
        Self(saa::Lock::new())
    }

    #[inline]
    fn try_read(&self) -> Option<Shared<'_>> {
        self.0.try_share().is_ok().then(|| Shared(&self.0))
    }

    #[inline]
    fn try_write(&self) -> Option<Locked<'_>> {
        self.0.try_lock().is_ok().then(|| Locked(&self.0))
    }
}

impl BlockingRwLock for SaaRwLock {
    #[inline]
    fn read(&self) -> Shared<'_> {
        assert!(self.0.share_sync(), "nobody poisons it");
        Shared(&self.0)
    }

    #[inline]
    fn write(&self) -> Locked<'_> {
        assert!(self.0.lock_sync(), "nobody poisons it");
        Locked(&self.0)
    }
}

impl AsyncRwLock for SaaRwLock {
    #[inline]
    async fn read_async(&self) -> Shared<'_> {
        assert!(self.0.share_async().await, "nobody poisons it");
        Shared(&self.0)
    }

    #[inline]
    async fn write_async(&self) -> Locked<'_> {
        assert!(self.0.lock_async().await, "nobody poisons it");
        Locked(&self.0)
    }
}

pub(crate) struct SaaSemaphore(saa::Semaphore);

pub(crate) struct Permit<'a>(&'a saa::Semaphore);

impl Drop for Permit<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.release();
    }
}

impl Semaphore for SaaSemaphore {
    const NAME: &'static str = "saa";

    type Permit<'a> = Permit<'a>;

    fn new(permits: usize) -> Self {
        Self(saa::Semaphore::with_permits(permits))
    }

    #[inline]
    fn try_acquire(&self) -> Option<Permit<'_>> {
        self.0.try_acquire().then(|| Permit(&self.0))
    }
}

impl BlockingSemaphore for SaaSemaphore {
    #[inline]
    fn acquire(&self) -> Permit<'_> {
        self.0.acquire_sync();
        Permit(&self.0)
    }

    fn add_one(&self) {
        self.0.release();
    }
}

impl AsyncSemaphore for SaaSemaphore {
    #[inline]
    async fn acquire_async(&self) -> Permit<'_> {
        self.0.acquire_async().await;
        Permit(&self.0)
    }
}
