//! Where an agent's thread sleeps between jobs.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
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
        *self.lock() = true;
        self.changed.notify_one();
    }

    /// Waits for a ring, at most until `deadline`; `None` waits for ever. Whether it rang.
    pub fn wait(&self, deadline: Option<Instant>) -> bool {
        std::mem::take(&mut *self.rung_by(deadline))
    }

    /// As [`Doorbell::wait`], but the bell stays rung until it is [cleared](Doorbell::clear): so that others can tell an
    /// agent that sleeps from one that was called and has not got up yet.
    pub(crate) fn sleep(&self, deadline: Option<Instant>) {
        drop(self.rung_by(deadline));
    }

    /// Whether it has been rung and not been cleared since.
    pub(crate) fn is_rung(&self) -> bool {
        *self.lock()
    }

    /// Forgets the ring. Clear before looking for work, not after: what comes later rings again.
    pub(crate) fn clear(&self) {
        *self.lock() = false;
    }

    fn rung_by(&self, deadline: Option<Instant>) -> MutexGuard<'_, bool> {
        let mut rung = self.lock();
        while !*rung {
            rung = match deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())) {
                None => self.changed.wait(rung).unwrap_or_else(PoisonError::into_inner),
                Some(left) if left.is_zero() => break,
                Some(left) => self.changed.wait_timeout(rung, left).unwrap_or_else(PoisonError::into_inner).0,
            };
        }
        rung
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        self.rung.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::time::Duration;

    #[test]
    fn ring_before_sleep_is_not_lost_and_stays_until_cleared() {
        let bell = Doorbell::default();
        bell.ring();
        bell.sleep(None);
        assert!(bell.is_rung());
        bell.clear();
        assert!(!bell.is_rung());
    }

    #[test]
    fn wait_takes_the_ring() {
        let bell = Doorbell::default();
        bell.ring();
        assert!(bell.wait(None));
        assert!(!bell.is_rung());
    }

    #[test]
    fn ring_wakes_a_sleeper() {
        let bell = Arc::new(Doorbell::default());
        let ringer = Arc::clone(&bell);
        let sleeper = std::thread::spawn(move || bell.sleep(None));
        ringer.ring();
        sleeper.join().unwrap();
    }

    #[test]
    fn sleep_ends_at_its_deadline_and_not_before() {
        let deadline = Instant::now() + Duration::from_millis(5);
        assert!(!Doorbell::default().wait(Some(deadline)));
        assert!(Instant::now() >= deadline);
    }
}
