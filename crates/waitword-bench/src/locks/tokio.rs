//! tokio's locks. It has no condition variable; `Notify` is what its users take.

use std::future::Future;
use std::pin::pin;

use ::tokio::sync::{MutexGuard, Notify, RwLockReadGuard, RwLockWriteGuard, SemaphorePermit};

use super::{
    AsyncMonitor, AsyncMutex, AsyncRwLock, AsyncSemaphore, BlockingMonitor, BlockingMutex, BlockingRwLock,
    BlockingSemaphore, Condition, Monitor, Mutex, RwLock, Semaphore, State,
};
use crate::block_on::block_on;

pub(crate) type Tokio = ::tokio::sync::Mutex<()>;

impl Mutex for Tokio {
    const NAME: &'static str = "tokio";

    type Guard<'a> = MutexGuard<'a, ()>;

    fn new() -> Self {
        Tokio::new(())
    }

    #[inline]
    fn try_lock(&self) -> Option<Self::Guard<'_>> {
        self.try_lock().ok()
    }
}

impl BlockingMutex for Tokio {
    #[inline]
    fn lock(&self) -> Self::Guard<'_> {
        self.blocking_lock()
    }
}

impl AsyncMutex for Tokio {
    #[inline]
    fn lock_async(&self) -> impl Future<Output = Self::Guard<'_>> + Send {
        self.lock()
    }
}

pub(crate) type TokioRwLock = ::tokio::sync::RwLock<()>;

impl RwLock for TokioRwLock {
    const NAME: &'static str = "tokio";

    type Read<'a> = RwLockReadGuard<'a, ()>;
    type Write<'a> = RwLockWriteGuard<'a, ()>;

    fn new() -> Self {
        TokioRwLock::new(())
    }

    #[inline]
    fn try_read(&self) -> Option<Self::Read<'_>> {
        self.try_read().ok()
    }

    #[inline]
    fn try_write(&self) -> Option<Self::Write<'_>> {
        self.try_write().ok()
    }
}

impl BlockingRwLock for TokioRwLock {
    #[inline]
    fn read(&self) -> Self::Read<'_> {
        self.blocking_read()
    }

    #[inline]
    fn write(&self) -> Self::Write<'_> {
        self.blocking_write()
    }
}

impl AsyncRwLock for TokioRwLock {
    #[inline]
    fn read_async(&self) -> impl Future<Output = Self::Read<'_>> + Send {
        self.read()
    }

    #[inline]
    fn write_async(&self) -> impl Future<Output = Self::Write<'_>> + Send {
        self.write()
    }
}

pub(crate) type TokioSemaphore = ::tokio::sync::Semaphore;

impl Semaphore for TokioSemaphore {
    const NAME: &'static str = "tokio";

    type Permit<'a> = SemaphorePermit<'a>;

    fn new(permits: usize) -> Self {
        TokioSemaphore::new(permits)
    }

    #[inline]
    fn try_acquire(&self) -> Option<Self::Permit<'_>> {
        self.try_acquire().ok()
    }
}

impl BlockingSemaphore for TokioSemaphore {
    #[inline]
    fn acquire(&self) -> Self::Permit<'_> {
        self.blocking_acquire().expect("nobody closes it")
    }

    fn add_one(&self) {
        self.add_permits(1);
    }
}

impl AsyncSemaphore for TokioSemaphore {
    #[inline]
    async fn acquire_async(&self) -> Self::Permit<'_> {
        self.acquire().await.expect("nobody closes it")
    }
}

#[derive(Default)]
pub(crate) struct TokioMonitor {
    state: ::tokio::sync::Mutex<State>,
    conditions: [Notify; 2],
}

impl Monitor for TokioMonitor {
    const NAME: &'static str = "tokio Mutex and Notify";

    type Guard<'a> = MutexGuard<'a, State>;

    fn notify_one(&self, condition: Condition) {
        self.conditions[condition as usize].notify_one();
    }

    fn notify_all(&self, condition: Condition) {
        self.conditions[condition as usize].notify_waiters();
    }
}

impl BlockingMonitor for TokioMonitor {
    #[inline]
    fn lock(&self) -> Self::Guard<'_> {
        self.state.blocking_lock()
    }

    fn wait<'a>(&'a self, condition: Condition, guard: Self::Guard<'a>) -> Self::Guard<'a> {
        block_on(self.wait_async(condition, guard))
    }
}

impl AsyncMonitor for TokioMonitor {
    #[inline]
    fn lock_async(&self) -> impl Future<Output = Self::Guard<'_>> + Send {
        self.state.lock()
    }

    async fn wait_async<'a>(&'a self, condition: Condition, guard: Self::Guard<'a>) -> Self::Guard<'a> {
        let mut notified = pin!(self.conditions[condition as usize].notified());
        // Queued before the mutex is free, or a notify between the two would be lost.
        notified.as_mut().enable();
        drop(guard);
        notified.await;
        self.state.lock().await
    }
}
