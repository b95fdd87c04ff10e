//! The doorbell at which an idle agent sleeps. A thread that has work for the agent rings it.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The doorbell of an agent. Several rings have the effect of one.
///
/// A ring stays set until the agent clears it. So other threads can distinguish an agent that sleeps from one that was rung and has not
/// run yet.
#[derive(Debug, Default)]
pub struct Doorbell {
    rung: Mutex<bool>,
    ringing: Condvar,
}

impl Doorbell {
    /// Wakes the agent, or makes its next sleep return at once. Make the work visible before ringing.
    pub fn ring(&self) {
        *self.lock() = true;
        self.ringing.notify_one();
    }

    /// Returns whether it was rung since it was last cleared.
    pub fn is_rung(&self) -> bool {
        *self.lock()
    }

    /// Clears the ring. Clear before looking for work, so that a ring for later work is not lost.
    pub fn clear(&self) {
        *self.lock() = false;
    }

    /// Blocks this thread until the doorbell is rung or `deadline` is reached; without a deadline, possibly forever.
    pub fn sleep(&self, deadline: Option<Instant>) {
        let mut rung = self.lock();
        while !*rung {
            rung = match deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())) {
                None => self.ringing.wait(rung).unwrap_or_else(PoisonError::into_inner),
                Some(left) if left.is_zero() => return,
                Some(left) => self.ringing.wait_timeout(rung, left).unwrap_or_else(PoisonError::into_inner).0,
            };
        }
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        self.rung.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;

    #[test]
    fn ring_before_sleep_is_not_lost() {
        let bell = Doorbell::default();
        bell.ring();
        bell.sleep(None);
        assert!(bell.is_rung(), "sleeping does not clear it");
        bell.clear();
        assert!(!bell.is_rung());
    }

    #[test]
    fn ring_wakes_a_sleeper() {
        let bell = Arc::new(Doorbell::default());
        let sleeper = std::thread::spawn({
            let bell = Arc::clone(&bell);
            move || bell.sleep(None)
        });
        bell.ring();
        sleeper.join().unwrap();
    }

    #[test]
    fn sleep_ends_at_its_deadline_and_not_before() {
        let deadline = Instant::now() + Duration::from_millis(5);
        Doorbell::default().sleep(Some(deadline));
        assert!(Instant::now() >= deadline);
    }
}
