//! asyncband's locks (the crate was named mea before).

use std::future::Future;

use ::asyncband::condvar::Condvar;
use ::asyncband::mutex::MutexGuard;
use ::asyncband::rwlock::{RwLockReadGuard, RwLockWriteGuard};
use ::asyncband::semaphore::SemaphorePermit;

use super::{
    AsyncMonitor, AsyncMutex, AsyncRwLock, AsyncSemaphore, BlockingMonitor, Condition, Monitor, Mutex,
    RwLock, Semaphore, State,
};
use crate::block_on::block_on;

pub(crate) type Asyncband = ::asyncband::mutex::Mutex<()>;

impl Mutex for Asyncband {
    const NAME: &'static str = "asyncband";

    type Guard<'a> = MutexGuard<'a, ()>;

    fn new() -> Self {
        Asyncband::new(())
    }

    #[inline]
    fn try_lock(&self) -> Option<Self::Guard<'_>> {
        self.try_lock()
    }
}

impl AsyncMutex for Asyncband {
    #[inline]
    fn lock_async(&self) -> impl Future<Output = Self::Guard<'_>> + Send {
        self.lock()
    }
}

pub(crate) type AsyncbandRwLock = ::asyncband::rwlock::RwLock<()>;

impl RwLock for AsyncbandRwLock {
    const NAME: &'static str = "asyncband";

    type Read<'a> = RwLockReadGuard<'a, ()>;
    type Write<'a> = RwLockWriteGuard<'a, ()>;

    fn new() -> Self {
        AsyncbandRwLock::new(())
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

impl AsyncRwLock for AsyncbandRwLock {
    #[inline]
    fn read_async(&self) -> impl Future<Output = Self::Read<'_>> + Send {
        self.read()
    }

    #[inline]
    fn write_async(&self) -> impl Future<Output = Self::Write<'_>> + Send {
        self.write()
    }
}

pub(crate) type AsyncbandSemaphore = ::asyncband::semaphore::Semaphore;

impl Semaphore for AsyncbandSemaphore {
    const NAME: &'static str = "asyncband";

    type Permit<'a> = SemaphorePermit<'a>;

    fn new(permits: usize) -> Self {
        AsyncbandSemaphore::new(permits)
    }

    #[inline]
    fn try_acquire(&self) -> Option<Self::Permit<'_>> {
        self.try_acquire(1)
    }
}

impl AsyncSemaphore for AsyncbandSemaphore {
    #[inline]
    fn acquire_async(&self) -> impl Future<Output = Self::Permit<'_>> + Send {
        self.acquire(1)
    }
}

#[derive(Default)]
pub(crate) struct AsyncbandMonitor {
    state: ::asyncband::mutex::Mutex<State>,
    conditions: [Condvar; 2],
}

impl Monitor for AsyncbandMonitor {
    const NAME: &'static str = "asyncband";

    type Guard<'a> = MutexGuard<'a, State>;

    fn notify_one(&self, condition: Condition) {
        self.conditions[condition as usize].notify_one();
    }

    fn notify_all(&self, condition: Condition) {
        self.conditions[condition as usize].notify_all();
    }
}

/// A thread polls its future and parks in between.
impl BlockingMonitor for AsyncbandMonitor {
    #[inline]
    fn lock(&self) -> Self::Guard<'_> {
        block_on(self.state.lock())
    }

    fn wait<'a>(&'a self, condition: Condition, guard: Self::Guard<'a>) -> Self::Guard<'a> {
        block_on(self.wait_async(condition, guard))
    }
}

impl AsyncMonitor for AsyncbandMonitor {
    #[inline]
    fn lock_async(&self) -> impl Future<Output = Self::Guard<'_>> + Send {
        self.state.lock()
    }

    fn wait_async<'a>(
        &'a self,
        condition: Condition,
        guard: Self::Guard<'a>,
    ) -> impl Future<Output = Self::Guard<'a>> + Send {
        self.conditions[condition as usize].wait(guard)
    }
}
