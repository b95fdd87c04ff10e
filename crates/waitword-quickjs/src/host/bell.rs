//! What an agent sleeps on while it has nothing to do: rung by whoever left something for it.
//!
//! The ring outlasts the wake-up until the agent clears it, so that a third party ([`cluster`](super::cluster)) can tell
//! an agent that sleeps from one that has been called and only not got up yet.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// One agent's doorbell. Rings do not count: one is as good as many.
#[derive(Debug, Default)]
pub(super) struct Bell {
    rung: Mutex<bool>,
    ringing: Condvar,
}

impl Bell {
    /// Wakes the agent, now or when it next wants to sleep. Ring after the letter lies in the box, not before.
    pub(super) fn ring(&self) {
        *self.lock() = true;
        self.ringing.notify_one();
    }

    /// Whether it has been rung since it was last cleared.
    pub(super) fn is_rung(&self) -> bool {
        *self.lock()
    }

    /// Forgets the ring. Clear before looking into the boxes, not after: a letter that comes later rings again.
    pub(super) fn clear(&self) {
        *self.lock() = false;
    }

    /// Blocks this thread until the bell has been rung, or until `deadline`.
    pub(super) fn sleep(&self, deadline: Option<Instant>) {
        let mut rung = self.lock();
        while !*rung {
            rung = match deadline.map(|each| each.saturating_duration_since(Instant::now())) {
                None => self.ringing.wait(rung).unwrap_or_else(PoisonError::into_inner),
                Some(rest) if rest.is_zero() => return,
                Some(rest) => self.ringing.wait_timeout(rung, rest).unwrap_or_else(PoisonError::into_inner).0,
            };
        }
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
    fn ring_before_sleep_is_not_lost() {
        let bell = Bell::default();
        bell.ring();
        bell.sleep(None);
        assert!(bell.is_rung(), "sleeping does not clear it");
        bell.clear();
        assert!(!bell.is_rung());
    }

    #[test]
    fn ring_wakes_a_sleeper() {
        let bell = Arc::new(Bell::default());
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
        Bell::default().sleep(Some(deadline));
        assert!(Instant::now() >= deadline);
    }
}
