//! Where an agent's thread sleeps between jobs.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Instant;

/// A bell that any thread may ring and one thread waits for. A ring that nobody hears yet is remembered; many of them
/// count as one.
#[derive(Debug, Default)]
pub struct Doorbell {
    rung: Mutex<bool>,
    changed: Condvar,
}

impl Doorbell {
    /// Wakes the waiting thread, or keeps its next [`Doorbell::wait`] from waiting.
    pub fn ring(&self) {
        *self.rung.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_one();
    }

    /// Waits for a ring, at most until `deadline`; `None` waits for ever. Whether it rang.
    pub fn wait(&self, deadline: Option<Instant>) -> bool {
        let mut rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        while !*rung {
            rung = match deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())) {
                None => self.changed.wait(rung).unwrap_or_else(PoisonError::into_inner),
                Some(left) if left.is_zero() => break,
                Some(left) => self.changed.wait_timeout(rung, left).unwrap_or_else(PoisonError::into_inner).0,
            };
        }
        std::mem::take(&mut *rung)
    }
}
