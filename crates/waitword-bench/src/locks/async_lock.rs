//! async-lock's locks. It has no condition variable; event-listener, which it is made of, has what one needs.

use std::future::Future;

use ::async_lock::{MutexGuard, RwLockReadGuard, RwLockWriteGuard, SemaphoreGuard};
use event_listener::{Event, EventListener, IntoNotification as _, Listener as _};

use super::{
    AsyncMonitor, AsyncMutex, AsyncRwLock, AsyncSemaphore, BlockingMonitor, BlockingMutex, BlockingRwLock,
    BlockingSemaphore, Condition, Monitor, Mutex, RwLock, Semaphore, State,
};

pub(crate) type AsyncLock = ::async_lock::Mutex<()>;

impl Mutex for AsyncLock {
    const NAME: &'static str = "async-lock";

    type Guard<'a> = MutexGuard<'a, ()>;

    fn new() -> Self {
        AsyncLock::new(())
    }

    #[inline]
    fn try_lock(&self) -> Option<Self::Guard<'_>> {
        self.try_lock()
    }
}

impl BlockingMutex for AsyncLock {
    #[inline]
    fn lock(&self) -> Self::Guard<'_> {
        self.lock_blocking()
    }
}

impl AsyncMutex for AsyncLock {
    #[inline]
    fn lock_async(&self) -> impl Future<Output = Self::Guard<'_>> + Send {
        self.lock()
    }
}

pub(crate) type AsyncLockRwLock = ::async_lock::RwLock<()>;

impl RwLock for AsyncLockRwLock {
    const NAME: &'static str = "async-lock";

    type Read<'a> = RwLockReadGuard<'a, ()>;
    type Write<'a> = RwLockWriteGuard<'a, ()>;

    fn new() -> Self {
        AsyncLockRwLock::new(())
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

impl BlockingRwLock for AsyncLockRwLock {
    #[inline]
    fn read(&self) -> Self::Read<'_> {
        self.read_blocking()
    }

    #[inline]
    fn write(&self) -> Self::Write<'_> {
        self.write_blocking()
    }
}

impl AsyncRwLock for AsyncLockRwLock {
    #[inline]
    fn read_async(&self) -> impl Future<Output = Self::Read<'_>> + Send {
        self.read()
    }

    #[inline]
    fn write_async(&self) -> impl Future<Output = Self::Write<'_>> + Send {
        self.write()
    }
}

pub(crate) type AsyncLockSemaphore = ::async_lock::Semaphore;

impl Semaphore for AsyncLockSemaphore {
    const NAME: &'static str = "async-lock";

    type Permit<'a> = SemaphoreGuard<'a>;

    fn new(permits: usize) -> Self {
        AsyncLockSemaphore::new(permits)
    }

    #[inline]
    fn try_acquire(&self) -> Option<Self::Permit<'_>> {
        self.try_acquire()
    }
}

impl BlockingSemaphore for AsyncLockSemaphore {
    #[inline]
    fn acquire(&self) -> Self::Permit<'_> {
        self.acquire_blocking()
    }

    fn add_one(&self) {
        self.add_permits(1);
    }
}

impl AsyncSemaphore for AsyncLockSemaphore {
    #[inline]
    fn acquire_async(&self) -> impl Future<Output = Self::Permit<'_>> + Send {
        self.acquire()
    }
}

#[derive(Default)]
pub(crate) struct AsyncLockMonitor {
    state: ::async_lock::Mutex<State>,
    conditions: [Event; 2],
}

impl AsyncLockMonitor {
    /// Queued before the mutex is free, or a notify between the two would be lost.
    fn listen(&self, condition: Condition, guard: MutexGuard<'_, State>) -> EventListener {
        let listener = self.conditions[condition as usize].listen();
        drop(guard);
        listener
    }
}

impl Monitor for AsyncLockMonitor {
    const NAME: &'static str = "async-lock and event-listener";

    type Guard<'a> = MutexGuard<'a, State>;

    fn notify_one(&self, condition: Condition) {
        // A plain `notify(1)` does nothing while an earlier notified waiter has not been polled.
        self.conditions[condition as usize].notify(1.additional());
    }

    fn notify_all(&self, condition: Condition) {
        self.conditions[condition as usize].notify(usize::MAX);
    }
}

impl BlockingMonitor for AsyncLockMonitor {
    #[inline]
    fn lock(&self) -> Self::Guard<'_> {
        self.state.lock_blocking()
    }

    fn wait<'a>(&'a self, condition: Condition, guard: Self::Guard<'a>) -> Self::Guard<'a> {
        self.listen(condition, guard).wait();
        self.state.lock_blocking()
    }
}

impl AsyncMonitor for AsyncLockMonitor {
    #[inline]
    fn lock_async(&self) -> impl Future<Output = Self::Guard<'_>> + Send {
        self.state.lock()
    }

    async fn wait_async<'a>(&'a self, condition: Condition, guard: Self::Guard<'a>) -> Self::Guard<'a> {
        self.listen(condition, guard).await;
        self.state.lock().await
    }
}
