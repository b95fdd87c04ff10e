//! asyncband's mutex (the crate was called mea).

use std::future::Future;

use ::asyncband::mutex::MutexGuard;

use super::{AsyncMutex, Mutex};

pub(crate) type Asyncband = ::asyncband::mutex::Mutex<()>;

impl Mutex for Asyncband {
    const NAME: &'static str = "asyncband";

    type Guard<'a> = MutexGuard<'a, ()>;

    fn new() -> Self {
        Asyncband::new(())
    }

    fn try_lock(&self) -> Option<Self::Guard<'_>> {
        self.try_lock()
    }
}

impl AsyncMutex for Asyncband {
    fn lock_async(&self) -> impl Future<Output = Self::Guard<'_>> + Send {
        self.lock()
    }
}
