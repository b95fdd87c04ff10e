//! async-lock's mutex.

use std::future::Future;

use ::async_lock::MutexGuard;

use super::{AsyncMutex, BlockingMutex, Mutex};

pub(crate) type AsyncLock = ::async_lock::Mutex<()>;

impl Mutex for AsyncLock {
    const NAME: &'static str = "async-lock";

    type Guard<'a> = MutexGuard<'a, ()>;

    fn new() -> Self {
        AsyncLock::new(())
    }

    fn try_lock(&self) -> Option<Self::Guard<'_>> {
        self.try_lock()
    }
}

impl BlockingMutex for AsyncLock {
    fn lock(&self) -> Self::Guard<'_> {
        self.lock_blocking()
    }
}

impl AsyncMutex for AsyncLock {
    fn lock_async(&self) -> impl Future<Output = Self::Guard<'_>> + Send {
        self.lock()
    }
}
