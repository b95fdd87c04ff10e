//! What several tests need.
#![allow(dead_code, reason = "each test file uses another part")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};
use std::time::{Duration, Instant};

/// Waits for another thread to have got somewhere. Fails loudly instead of hanging.
#[track_caller]
pub(crate) fn until(condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(60), "waited for a minute");
        std::thread::yield_now();
    }
}

/// Counts wakes, and the wakers that are still held somewhere.
pub(crate) struct Probe(Arc<Count>);

struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Probe {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Count(AtomicUsize::new(0))))
    }

    pub(crate) fn waker(&self) -> Waker {
        Waker::from(Arc::clone(&self.0))
    }

    pub(crate) fn wakes(&self) -> usize {
        self.0.0.load(Ordering::SeqCst)
    }

    pub(crate) fn held(&self) -> usize {
        Arc::strong_count(&self.0) - 1
    }
}
