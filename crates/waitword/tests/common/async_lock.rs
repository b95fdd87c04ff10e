//! The lock without a guard, as the tests that hold for all locks see it.

use std::sync::Arc;
use std::sync::atomic::AtomicI32;
use std::time::{Duration, Instant};

use waitword::AsyncLock;
use waitword::word::Table;

use super::exclusive::{Exclusive, Held, Waiting, Way};
use super::far;

/// Has taken the lock.
struct Unlocks<'a>(&'a AsyncLock);

impl Drop for Unlocks<'_> {
    fn drop(&mut self) {
        self.0.unlock().unwrap();
    }
}

impl Exclusive for AsyncLock {
    fn free() -> Arc<Self> {
        Arc::default()
    }

    fn lock(&self) -> Held<'_> {
        self.lock();
        Box::new(Unlocks(self))
    }

    fn lock_for(&self, timeout: Duration) -> Option<Held<'_>> {
        self.lock_for(timeout).is_ok().then(|| Box::new(Unlocks(self)) as Held<'_>)
    }

    fn lock_until(&self, deadline: Instant) -> Held<'_> {
        self.lock_until(deadline).unwrap();
        Box::new(Unlocks(self))
    }

    fn try_lock(&self) -> Option<Held<'_>> {
        self.try_lock().then(|| Box::new(Unlocks(self)) as Held<'_>)
    }

    /// There are no owned forms.
    fn wait(self: &Arc<Self>, way: Way) -> Waiting<'_> {
        Box::pin(async move {
            match way {
                Way::Borrowed | Way::Owned => self.lock_async().await,
                Way::Timed | Way::OwnedTimed => self.lock_async_until(far()).await.unwrap(),
            }
            Box::new(Unlocks(self)) as Held<'_>
        })
    }

    fn waiters(&self) -> usize {
        const { assert!(size_of::<AsyncLock>() == size_of::<AtomicI32>()) };
        // SAFETY: it is its word, an `AtomicI32`. It is not even read, only its address.
        let word = unsafe { &*std::ptr::from_ref(self).cast::<AtomicI32>() };
        Table::global().waiters(word)
    }
}
