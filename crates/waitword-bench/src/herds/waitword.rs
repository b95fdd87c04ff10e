//! Ours.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use waitword_core::{Outcome, notify_all, wait, wait_for};

use super::herd::Herd;
use crate::workload::OURS;

pub(crate) struct Waitword(AtomicU32);

impl Herd for Waitword {
    const NAME: &'static str = OURS;

    fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    fn wait_while(&self, generation: u32) {
        while self.0.load(Ordering::SeqCst) == generation {
            let _ = wait(&self.0, generation);
        }
    }

    fn time_out(&self, timeout: Duration) {
        assert_eq!(wait_for(&self.0, self.0.load(Ordering::SeqCst), timeout), Outcome::TimedOut);
    }

    fn advance(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
        notify_all(&self.0);
    }
}
