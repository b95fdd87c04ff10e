//! The system's own wait queue on a word.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::herd::Herd;
use crate::platform::{futex_wait, futex_wait_for, futex_wake_all};

pub(crate) struct RawFutex(AtomicU32);

impl Herd for RawFutex {
    const NAME: &'static str = "raw futex (limit)";

    fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    fn wait_while(&self, generation: u32) {
        while self.0.load(Ordering::SeqCst) == generation {
            futex_wait(&self.0, generation);
        }
    }

    fn time_out(&self, timeout: Duration) {
        let (start, value) = (Instant::now(), self.0.load(Ordering::SeqCst));
        while let Some(left) = timeout.checked_sub(start.elapsed()).filter(|left| !left.is_zero()) {
            futex_wait_for(&self.0, value, left);
        }
    }

    fn advance(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
        futex_wake_all(&self.0);
    }
}
