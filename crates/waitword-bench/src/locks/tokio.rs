//! tokio's mutex.

use std::future::Future;

use ::tokio::sync::MutexGuard;

use super::{AsyncMutex, BlockingMutex, Mutex};

pub(crate) type Tokio = ::tokio::sync::Mutex<()>;

impl Mutex for Tokio {
    const NAME: &'static str = "tokio";

    type Guard<'a> = MutexGuard<'a, ()>;

    fn new() -> Self {
        Tokio::new(())
    }

    fn try_lock(&self) -> Option<Self::Guard<'_>> {
        self.try_lock().ok()
    }
}

impl BlockingMutex for Tokio {
    fn lock(&self) -> Self::Guard<'_> {
        self.blocking_lock()
    }
}

impl AsyncMutex for Tokio {
    fn lock_async(&self) -> impl Future<Output = Self::Guard<'_>> + Send {
        self.lock()
    }
}
