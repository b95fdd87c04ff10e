//! Ours.

use waitword::AsyncLock;

use super::{AsyncMutex, BlockingMutex, Mutex};
use crate::workloads::OURS;

pub(crate) struct Waitword(AsyncLock);

pub(crate) struct Locked<'a>(&'a AsyncLock);

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        self.0.unlock().expect("it is locked");
    }
}

impl Mutex for Waitword {
    const NAME: &'static str = OURS;

    type Guard<'a> = Locked<'a>;

    fn new() -> Self {
        Self(AsyncLock::new())
    }

    fn try_lock(&self) -> Option<Locked<'_>> {
        self.0.try_lock().then(|| Locked(&self.0))
    }
}

impl BlockingMutex for Waitword {
    fn lock(&self) -> Locked<'_> {
        self.0.lock();
        Locked(&self.0)
    }
}

impl AsyncMutex for Waitword {
    async fn lock_async(&self) -> Locked<'_> {
        self.0.lock_async().await;
        Locked(&self.0)
    }
}
