//! Ours.

use std::future::Future;

use waitword::MutexGuard;

use super::{AsyncMutex, BlockingMutex, Mutex};
use crate::workloads::OURS;

pub(crate) struct Waitword(waitword::Mutex<()>);

impl Mutex for Waitword {
    const NAME: &'static str = OURS;

    type Guard<'a> = MutexGuard<'a, ()>;

    fn new() -> Self {
        Self(waitword::Mutex::new(()))
    }

    fn try_lock(&self) -> Option<MutexGuard<'_, ()>> {
        self.0.try_lock()
    }
}

impl BlockingMutex for Waitword {
    fn lock(&self) -> MutexGuard<'_, ()> {
        self.0.lock()
    }
}

impl AsyncMutex for Waitword {
    fn lock_async(&self) -> impl Future<Output = MutexGuard<'_, ()>> + Send {
        self.0.lock_async()
    }
}
