//! maitake-sync's mutex.

use std::future::Future;

use maitake_sync::MutexGuard;

use super::{AsyncMutex, Mutex};

pub(crate) type Maitake = maitake_sync::Mutex<()>;

impl Mutex for Maitake {
    const NAME: &'static str = "maitake-sync";

    type Guard<'a> = MutexGuard<'a, ()>;

    fn new() -> Self {
        Maitake::new(())
    }

    fn try_lock(&self) -> Option<Self::Guard<'_>> {
        self.try_lock()
    }
}

impl AsyncMutex for Maitake {
    fn lock_async(&self) -> impl Future<Output = Self::Guard<'_>> + Send {
        self.lock()
    }
}
