//! The mutex, as the tests that hold for all locks see it.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::{Duration, Instant};

use waitword::Mutex;
use waitword::word::Table;

use super::exclusive::{Exclusive, Held, Waiting, Way};
use super::far;

impl Exclusive for Mutex<()> {
    fn free() -> Arc<Self> {
        Arc::default()
    }

    fn lock(&self) -> Held<'_> {
        Box::new(self.lock())
    }

    fn lock_until(&self, deadline: Instant) -> Held<'_> {
        Box::new(self.lock_until(deadline).unwrap())
    }

    fn lock_for(&self, timeout: Duration) -> Option<Held<'_>> {
        Some(Box::new(self.lock_for(timeout).ok()?))
    }

    fn try_lock(&self) -> Option<Held<'_>> {
        Some(Box::new(self.try_lock()?))
    }

    fn wait(self: &Arc<Self>, way: Way) -> Waiting<'_> {
        Box::pin(async move {
            match way {
                Way::Borrowed => Box::new(self.lock_async().await) as Held<'_>,
                Way::Timed => Box::new(self.lock_async_until(far()).await.unwrap()),
                Way::Owned => Box::new(self.lock_owned_async().await),
                Way::OwnedTimed => Box::new(self.lock_owned_async_until(far()).await.unwrap()),
            }
        })
    }

    fn waiters(&self) -> usize {
        waiters(self)
    }
}

/// How many are queued for it.
pub(crate) fn waiters(mutex: &Mutex<()>) -> usize {
    const { assert!(size_of::<Mutex<()>>() == size_of::<AtomicU32>()) };
    // SAFETY: without a value the mutex is its word, an `AtomicU32`. It is not even read, only its address.
    let word = unsafe { &*std::ptr::from_ref(mutex).cast::<AtomicU32>() };
    Table::global().waiters(word)
}
