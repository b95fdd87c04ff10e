//! Ours: the turn is the word.

use std::sync::atomic::{AtomicU32, Ordering};

use waitword_core::{notify_one, wait, wait_async};

use super::{AsyncTurns, Turns};
use crate::workload::OURS;

pub(crate) struct Waitword(AtomicU32);

impl Turns for Waitword {
    const NAME: &'static str = OURS;

    fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    fn wait_while(&self, turn: u32) {
        while self.0.load(Ordering::SeqCst) == turn {
            // The turn itself says whether it was worth it.
            let _ = wait(&self.0, turn);
        }
    }

    fn set(&self, turn: u32) {
        self.0.store(turn, Ordering::SeqCst);
        notify_one(&self.0);
    }
}

impl AsyncTurns for Waitword {
    async fn wait_while_async(&self, turn: u32) {
        while self.0.load(Ordering::SeqCst) == turn {
            let _ = wait_async(&self.0, turn).await;
        }
    }
}
