//! saa's lock, which has no guard.

use super::{AsyncMutex, BlockingMutex, Mutex};

pub(crate) struct Saa(saa::Lock);

pub(crate) struct Locked<'a>(&'a saa::Lock);

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        self.0.release_lock();
    }
}

impl Mutex for Saa {
    const NAME: &'static str = "saa";

    type Guard<'a> = Locked<'a>;

    fn new() -> Self {
        Self(saa::Lock::new())
    }

    fn try_lock(&self) -> Option<Locked<'_>> {
        self.0.try_lock().is_ok().then(|| Locked(&self.0))
    }
}

impl BlockingMutex for Saa {
    fn lock(&self) -> Locked<'_> {
        assert!(self.0.lock_sync(), "nobody poisons it");
        Locked(&self.0)
    }
}

impl AsyncMutex for Saa {
    async fn lock_async(&self) -> Locked<'_> {
        assert!(self.0.lock_async().await, "nobody poisons it");
        Locked(&self.0)
    }
}
