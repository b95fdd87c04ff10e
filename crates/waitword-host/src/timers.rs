//! The deadlines of timers. Only `timers.js` knows their callbacks; here they are numbers.

use std::collections::{BTreeMap, HashMap};
use std::time::Instant;

/// The number under which the script knows a timer.
pub(crate) type TimerId = u64;

/// The timers of one agent. Starting, stopping and firing cost O(log n), and a stopped timer leaves nothing behind.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    /// Ordered by deadline, then by the order of starting.
    queue: BTreeMap<(Instant, u64), TimerId>,
    places: HashMap<TimerId, Place>,
    started: u64,
    keeping_alive: usize,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    key: (Instant, u64),
    keeps_alive: bool,
}

impl Timers {
    /// Starts or restarts a timer.
    pub(crate) fn start(&mut self, id: TimerId, due: Instant, keeps_alive: bool) {
        self.stop(id);
        self.started += 1;
        let key = (due, self.started);
        self.queue.insert(key, id);
        self.places.insert(id, Place { key, keeps_alive });
        self.keeping_alive += usize::from(keeps_alive);
    }

    pub(crate) fn stop(&mut self, id: TimerId) {
        if let Some(place) = self.places.remove(&id) {
            self.queue.remove(&place.key);
            self.keeping_alive -= usize::from(place.keeps_alive);
        }
    }

    /// Changes whether the timer keeps its agent alive (`ref`, `unref`).
    pub(crate) fn keep(&mut self, id: TimerId, keeps_alive: bool) {
        if let Some(place) = self.places.get_mut(&id) {
            self.keeping_alive -= usize::from(place.keeps_alive);
            self.keeping_alive += usize::from(keeps_alive);
            place.keeps_alive = keeps_alive;
        }
    }

    /// Whether a timer is running that keeps the agent alive.
    pub(crate) fn keep_alive(&self) -> bool {
        self.keeping_alive > 0
    }

    /// When the next timer is due.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.queue.first_key_value().map(|(&(due, _), _)| due)
    }

    /// Removes the first timer that is due at `now`.
    pub(crate) fn take_due(&mut self, now: Instant) -> Option<TimerId> {
        let (&(due, _), &id) = self.queue.first_key_value()?;
        if due > now {
            return None;
        }
        self.stop(id);
        Some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn all_due(timers: &mut Timers, now: Instant) -> Vec<TimerId> {
        std::iter::from_fn(|| timers.take_due(now)).collect()
    }

    #[test]
    fn due_order_then_start_order_and_never_early() {
        let start = Instant::now();
        let after = |ms| start + Duration::from_millis(ms);
        let mut timers = Timers::default();
        for (id, ms) in [(1, 20), (2, 10), (3, 10), (4, 30)] {
            timers.start(id, after(ms), true);
        }
        assert_eq!(timers.next_due(), Some(after(10)));
        assert_eq!(all_due(&mut timers, after(9)), []);
        assert_eq!(all_due(&mut timers, after(20)), [2, 3, 1]);
        assert_eq!(timers.next_due(), Some(after(30)));
    }

    #[test]
    fn stopped_and_restarted_timers_leave_nothing_behind() {
        let start = Instant::now();
        let mut timers = Timers::default();
        timers.start(1, start, true);
        timers.start(1, start + Duration::from_secs(1), true);
        assert_eq!(all_due(&mut timers, start), []);
        timers.stop(1);
        timers.stop(1);
        assert!(timers.queue.is_empty() && timers.places.is_empty() && !timers.keep_alive());
    }

    #[test]
    fn only_referenced_timers_keep_alive() {
        let now = Instant::now();
        let mut timers = Timers::default();
        timers.start(1, now, false);
        assert!(!timers.keep_alive());
        timers.keep(1, true);
        timers.keep(1, true);
        assert!(timers.keep_alive());
        timers.keep(1, false);
        timers.keep(2, true);
        assert!(!timers.keep_alive(), "an unknown timer keeps nothing alive");
        timers.start(3, now, true);
        assert_eq!(all_due(&mut timers, now), [1, 3]);
        assert!(!timers.keep_alive());
    }
}
