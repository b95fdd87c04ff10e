//! What no lock can be faster than.

use std::sync::atomic::{AtomicU32, Ordering};

use super::{AsyncMutex, BlockingMutex, Mutex};

/// One compare-and-swap to lock, one swap to unlock, and no waiters: the least that an uncontended lock has to do.
pub(crate) struct CasAndSwap(AtomicU32);

pub(crate) struct Taken<'a>(&'a AtomicU32);

impl Drop for Taken<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.swap(0, Ordering::Release);
    }
}

impl Mutex for CasAndSwap {
    const NAME: &'static str = "one CAS, one swap (limit)";

    type Guard<'a> = Taken<'a>;

    fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    #[inline]
    fn try_lock(&self) -> Option<Taken<'_>> {
        self.0.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).ok().map(|_| Taken(&self.0))
    }
}

impl BlockingMutex for CasAndSwap {
    #[inline]
    fn lock(&self) -> Taken<'_> {
        self.try_lock().expect("only the uncontended case is measured")
    }
}

/// No lock at all: what the tasks cost without one.
pub(crate) struct NoLock;

impl Mutex for NoLock {
    const NAME: &'static str = "no lock (limit)";

    type Guard<'a> = ();

    fn new() -> Self {
        Self
    }

    #[inline]
    fn try_lock(&self) -> Option<()> {
        Some(())
    }
}

impl AsyncMutex for NoLock {
    async fn lock_async(&self) {}
}
