//! What an agent sleeps on while it has nothing to do: rung by the thread that left something for it.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// One agent's doorbell. Rings do not count: one is as good as many.
///
/// A ring outlasts the wake-up until the agent clears it, so that a third party can tell an agent that sleeps from one
/// that has been called and has only not got up yet.
#[derive(Debug, Default)]
pub struct Doorbell {
    rung: Mutex<bool>,
    ringing: Condvar,
}

impl Doorbell {
    /// Wakes the agent, now or when it next wants to sleep. Ring after the thing is there that it is called for.
    pub fn ring(&self) {
        *self.lock() = true;
        self.ringing.notify_one();
    }

    /// Whether it has been rung since it was last cleared.
    pub fn is_rung(&self) -> bool {
        *self.lock()
    }

    /// Forgets the ring. Clear before looking for what it rang for: what comes later rings again.
    pub fn clear(&self) {
        *self.lock() = false;
    }

    /// Blocks this thread until the bell has been rung, or until `deadline`; `None` waits for ever.
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
