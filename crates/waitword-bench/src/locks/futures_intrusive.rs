//! futures-intrusive's locks, in their fair mode, in which an unlock is a handoff.

use std::future::Future;

use ::futures_intrusive::sync::{MutexGuard, SemaphoreReleaser};

use super::{AsyncMutex, AsyncSemaphore, Mutex, Semaphore};

pub(crate) type FuturesIntrusive = ::futures_intrusive::sync::Mutex<()>;

impl Mutex for FuturesIntrusive {
    const NAME: &'static str = "futures-intrusive";

    type Guard<'a> = MutexGuard<'a, ()>;

    fn new() -> Self {
        FuturesIntrusive::new((), true)
    }

    #[inline]
    fn try_lock(&self) -> Option<Self::Guard<'_>> {
        self.try_lock()
    }
}

impl AsyncMutex for FuturesIntrusive {
    #[inline]
    fn lock_async(&self) -> impl Future<Output = Self::Guard<'_>> + Send {
        self.lock()
    }
}

pub(crate) type FuturesIntrusiveSemaphore = ::futures_intrusive::sync::Semaphore;

impl Semaphore for FuturesIntrusiveSemaphore {
    const NAME: &'static str = "futures-intrusive";

    type Permit<'a> = SemaphoreReleaser<'a>;

    fn new(permits: usize) -> Self {
        FuturesIntrusiveSemaphore::new(true, permits)
    }

    #[inline]
    fn try_acquire(&self) -> Option<Self::Permit<'_>> {
        self.try_acquire(1)
    }
}

impl AsyncSemaphore for FuturesIntrusiveSemaphore {
    #[inline]
    fn acquire_async(&self) -> impl Future<Output = Self::Permit<'_>> + Send {
        self.acquire(1)
    }
}
