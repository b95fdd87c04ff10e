//! A semaphore of one permit, as the tests that hold for all locks see it.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use waitword::Semaphore;
use waitword::word::Table;

use super::exclusive::{Exclusive, Held, Waiting, Way};
use super::far;

impl Exclusive for Semaphore {
    fn free() -> Arc<Self> {
        Arc::new(Semaphore::new(1))
    }

    fn lock(&self) -> Held<'_> {
        Box::new(self.acquire().unwrap())
    }

    fn lock_until(&self, deadline: Instant) -> Held<'_> {
        Box::new(self.acquire_until(deadline).unwrap())
    }

    fn lock_for(&self, timeout: Duration) -> Option<Held<'_>> {
        Some(Box::new(self.acquire_for(timeout).ok()?))
    }

    fn try_lock(&self) -> Option<Held<'_>> {
        Some(Box::new(self.try_acquire().ok()?))
    }

    fn wait(self: &Arc<Self>, way: Way) -> Waiting<'_> {
        Box::pin(async move {
            match way {
                Way::Borrowed => Box::new(self.acquire_async().await.unwrap()) as Held<'_>,
                Way::Timed => Box::new(self.acquire_async_until(far()).await.unwrap()),
                Way::Owned => Box::new(self.acquire_owned_async().await.unwrap()),
                Way::OwnedTimed => Box::new(self.acquire_owned_async_until(far()).await.unwrap()),
            }
        })
    }

    fn waiters(&self) -> usize {
        waiters(self)
    }
}

/// How many are queued for it.
pub(crate) fn waiters(semaphore: &Semaphore) -> usize {
    const { assert!(align_of::<Semaphore>() == align_of::<AtomicU64>()) };
    // SAFETY: it begins with its word, an `AtomicU64`. It is not even read, only its address.
    let word = unsafe { &*std::ptr::from_ref(semaphore).cast::<AtomicU64>() };
    Table::global().waiters(word)
}
