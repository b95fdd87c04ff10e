//! A readers-writer lock with writers only, as the tests that hold for all locks see it.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use waitword::RwLock;
use waitword::word::Table;

use super::exclusive::{Exclusive, Held, Waiting, Way};
use super::far;

impl Exclusive for RwLock<()> {
    fn free() -> Arc<Self> {
        Arc::default()
    }

    fn lock(&self) -> Held<'_> {
        Box::new(self.write())
    }

    fn lock_for(&self, timeout: Duration) -> Option<Held<'_>> {
        Some(Box::new(self.write_for(timeout).ok()?))
    }

    fn lock_until(&self, deadline: Instant) -> Held<'_> {
        Box::new(self.write_until(deadline).unwrap())
    }

    fn try_lock(&self) -> Option<Held<'_>> {
        Some(Box::new(self.try_write()?))
    }

    fn wait(self: &Arc<Self>, way: Way) -> Waiting<'_> {
        Box::pin(async move {
            match way {
                Way::Borrowed => Box::new(self.write_async().await) as Held<'_>,
                Way::Timed => Box::new(self.write_async_until(far()).await.unwrap()),
                Way::Owned => Box::new(self.write_owned_async().await),
                Way::OwnedTimed => Box::new(self.write_owned_async_until(far()).await.unwrap()),
            }
        })
    }

    fn waiters(&self) -> usize {
        waiters(self)
    }
}

/// How many are queued for it.
pub(crate) fn waiters(lock: &RwLock<()>) -> usize {
    const { assert!(size_of::<RwLock<()>>() == size_of::<[AtomicU64; 2]>()) };
    // SAFETY: without a value it is its two words, of which one has the queue, and the other the upgrading holder. They are not even
    // read, only their addresses.
    let words = unsafe { &*std::ptr::from_ref(lock).cast::<[AtomicU64; 2]>() };
    words.iter().map(|word| Table::global().waiters(word)).sum()
}
