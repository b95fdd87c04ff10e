//! How a lock for one side serves the other.

use std::future::Future;

use super::{AsyncMutex, BlockingMutex, Mutex};
use crate::block_on::block_on;

/// A lock for tasks, taken by threads too: they poll its future and park in between.
pub(crate) struct OnThread<M>(M);

impl<M: AsyncMutex> Mutex for OnThread<M> {
    const NAME: &'static str = M::NAME;

    type Guard<'a> = M::Guard<'a>;

    fn new() -> Self {
        Self(M::new())
    }

    fn try_lock(&self) -> Option<M::Guard<'_>> {
        self.0.try_lock()
    }
}

impl<M: AsyncMutex> BlockingMutex for OnThread<M> {
    fn lock(&self) -> M::Guard<'_> {
        block_on(self.0.lock_async())
    }
}

impl<M: AsyncMutex> AsyncMutex for OnThread<M> {
    fn lock_async(&self) -> impl Future<Output = M::Guard<'_>> + Send {
        self.0.lock_async()
    }
}

/// A lock for threads, taken by tasks too: they block the worker that polls them.
pub(crate) struct OnWorker<M>(M);

impl<M: BlockingMutex> Mutex for OnWorker<M> {
    const NAME: &'static str = M::NAME;

    type Guard<'a> = M::Guard<'a>;

    fn new() -> Self {
        Self(M::new())
    }

    fn try_lock(&self) -> Option<M::Guard<'_>> {
        self.0.try_lock()
    }
}

impl<M: BlockingMutex> BlockingMutex for OnWorker<M> {
    fn lock(&self) -> M::Guard<'_> {
        self.0.lock()
    }
}

impl<M: BlockingMutex> AsyncMutex for OnWorker<M> {
    const BLOCKS_WORKER: bool = true;

    async fn lock_async(&self) -> M::Guard<'_> {
        self.0.lock()
    }
}
