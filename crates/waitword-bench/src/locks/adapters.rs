//! How a lock for one side serves the other, and how a read-write lock or a semaphore is measured as a mutex is.

use std::future::Future;

use super::{
    AsyncMutex, AsyncRwLock, AsyncSemaphore, BlockingMutex, BlockingRwLock, BlockingSemaphore, Mutex, RwLock,
    Semaphore,
};
use crate::block_on::block_on;

/// The part of a mutex that needs no side: the inner lock's, by its own names.
macro_rules! mutex {
    ({$($parameters:tt)*} $adapter:ty as $lock:ident: $Guard:ident, new($($argument:ident)?), $try_lock:ident) => {
        impl<$($parameters)*> Mutex for $adapter {
            const NAME: &'static str = $lock::NAME;

            type Guard<'a> = $lock::$Guard<'a>;

            fn new() -> Self {
                Self($lock::new($($argument)?))
            }

            #[inline]
            fn try_lock(&self) -> Option<$lock::$Guard<'_>> {
                self.0.$try_lock()
            }
        }
    };
}

/// A lock for tasks, taken by threads too: they poll its future and park in between.
pub(crate) struct OnThread<M>(M);

mutex!({M: AsyncMutex} OnThread<M> as M: Guard, new(), try_lock);

impl<M: AsyncMutex> BlockingMutex for OnThread<M> {
    #[inline]
    fn lock(&self) -> M::Guard<'_> {
        block_on(self.0.lock_async())
    }
}

impl<M: AsyncMutex> AsyncMutex for OnThread<M> {
    #[inline]
    fn lock_async(&self) -> impl Future<Output = M::Guard<'_>> + Send {
        self.0.lock_async()
    }
}

/// A lock for threads, taken by tasks too: they block the worker that polls them.
pub(crate) struct OnWorker<M>(M);

mutex!({M: BlockingMutex} OnWorker<M> as M: Guard, new(), try_lock);

impl<M: BlockingMutex> BlockingMutex for OnWorker<M> {
    #[inline]
    fn lock(&self) -> M::Guard<'_> {
        self.0.lock()
    }
}

impl<M: BlockingMutex> AsyncMutex for OnWorker<M> {
    const BLOCKS_WORKER: bool = true;

    #[inline]
    async fn lock_async(&self) -> M::Guard<'_> {
        self.0.lock()
    }
}

/// A read-write lock that is taken by readers only.
pub(crate) struct Reads<L>(L);

mutex!({L: RwLock} Reads<L> as L: Read, new(), try_read);

impl<L: BlockingRwLock> BlockingMutex for Reads<L> {
    #[inline]
    fn lock(&self) -> L::Read<'_> {
        self.0.read()
    }
}

impl<L: AsyncRwLock> AsyncMutex for Reads<L> {
    #[inline]
    fn lock_async(&self) -> impl Future<Output = L::Read<'_>> + Send {
        self.0.read_async()
    }
}

/// A read-write lock that is taken by writers only.
pub(crate) struct Writes<L>(L);

mutex!({L: RwLock} Writes<L> as L: Write, new(), try_write);

impl<L: BlockingRwLock> BlockingMutex for Writes<L> {
    #[inline]
    fn lock(&self) -> L::Write<'_> {
        self.0.write()
    }
}

impl<L: AsyncRwLock> AsyncMutex for Writes<L> {
    #[inline]
    fn lock_async(&self) -> impl Future<Output = L::Write<'_>> + Send {
        self.0.write_async()
    }
}

/// A semaphore of so many permits.
pub(crate) struct Permits<S, const PERMITS: usize>(S);

mutex!({S: Semaphore, const PERMITS: usize} Permits<S, PERMITS> as S: Permit, new(PERMITS), try_acquire);

impl<S: BlockingSemaphore, const PERMITS: usize> BlockingMutex for Permits<S, PERMITS> {
    #[inline]
    fn lock(&self) -> S::Permit<'_> {
        self.0.acquire()
    }
}

impl<S: AsyncSemaphore, const PERMITS: usize> AsyncMutex for Permits<S, PERMITS> {
    #[inline]
    fn lock_async(&self) -> impl Future<Output = S::Permit<'_>> + Send {
        self.0.acquire_async()
    }
}
