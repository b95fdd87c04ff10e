//! Ours.

use std::future::Future;

use waitword::{Condvar, MutexGuard, RwLockReadGuard, RwLockWriteGuard, SemaphorePermit};

use super::{
    AsyncMonitor, AsyncMutex, AsyncRwLock, AsyncSemaphore, BlockingMonitor, BlockingMutex, BlockingRwLock,
    BlockingSemaphore, Condition, Monitor, Mutex, RwLock, Semaphore, State,
};
use crate::workload::OURS;

pub(crate) type Waitword = waitword::Mutex<()>;

impl Mutex for Waitword {
    const NAME: &'static str = OURS;

    type Guard<'a> = MutexGuard<'a, ()>;

    fn new() -> Self {
        Waitword::new(())
    }

    #[inline]
    fn try_lock(&self) -> Option<Self::Guard<'_>> {
        self.try_lock()
    }
}

impl BlockingMutex for Waitword {
    #[inline]
    fn lock(&self) -> Self::Guard<'_> {
        self.lock()
    }
}

impl AsyncMutex for Waitword {
    #[inline]
    fn lock_async(&self) -> impl Future<Output = Self::Guard<'_>> + Send {
        self.lock_async()
    }
}

pub(crate) type WaitwordRwLock = waitword::RwLock<()>;

impl RwLock for WaitwordRwLock {
    const NAME: &'static str = OURS;

    type Read<'a> = RwLockReadGuard<'a, ()>;
    type Write<'a> = RwLockWriteGuard<'a, ()>;

    fn new() -> Self {
        WaitwordRwLock::new(())
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

impl BlockingRwLock for WaitwordRwLock {
    #[inline]
    fn read(&self) -> Self::Read<'_> {
        self.read()
    }

    #[inline]
    fn write(&self) -> Self::Write<'_> {
        self.write()
    }
}

impl AsyncRwLock for WaitwordRwLock {
    #[inline]
    fn read_async(&self) -> impl Future<Output = Self::Read<'_>> + Send {
        self.read_async()
    }

    #[inline]
    fn write_async(&self) -> impl Future<Output = Self::Write<'_>> + Send {
        self.write_async()
    }
}

pub(crate) type WaitwordSemaphore = waitword::Semaphore;

impl Semaphore for WaitwordSemaphore {
    const NAME: &'static str = OURS;

    type Permit<'a> = SemaphorePermit<'a>;

    fn new(permits: usize) -> Self {
        WaitwordSemaphore::new(permits)
    }

    #[inline]
    fn try_acquire(&self) -> Option<Self::Permit<'_>> {
        self.try_acquire().ok()
    }
}

impl BlockingSemaphore for WaitwordSemaphore {
    #[inline]
    fn acquire(&self) -> Self::Permit<'_> {
        self.acquire().expect("nobody closes it")
    }

    fn add_one(&self) {
        self.add_permits(1);
    }
}

impl AsyncSemaphore for WaitwordSemaphore {
    #[inline]
    async fn acquire_async(&self) -> Self::Permit<'_> {
        self.acquire_async().await.expect("nobody closes it")
    }
}

#[derive(Default)]
pub(crate) struct WaitwordMonitor {
    state: waitword::Mutex<State>,
    conditions: [Condvar; 2],
}

impl Monitor for WaitwordMonitor {
    const NAME: &'static str = OURS;

    type Guard<'a> = MutexGuard<'a, State>;

    fn notify_one(&self, condition: Condition) {
        self.conditions[condition as usize].notify_one();
    }

    fn notify_all(&self, condition: Condition) {
        self.conditions[condition as usize].notify_all();
    }
}

impl BlockingMonitor for WaitwordMonitor {
    #[inline]
    fn lock(&self) -> Self::Guard<'_> {
        self.state.lock()
    }

    fn wait<'a>(&'a self, condition: Condition, mut guard: Self::Guard<'a>) -> Self::Guard<'a> {
        self.conditions[condition as usize].wait(&mut guard);
        guard
    }
}

impl AsyncMonitor for WaitwordMonitor {
    #[inline]
    fn lock_async(&self) -> impl Future<Output = Self::Guard<'_>> + Send {
        self.state.lock_async()
    }

    fn wait_async<'a>(
        &'a self,
        condition: Condition,
        guard: Self::Guard<'a>,
    ) -> impl Future<Output = Self::Guard<'a>> + Send {
        self.conditions[condition as usize].wait_async(guard)
    }
}
