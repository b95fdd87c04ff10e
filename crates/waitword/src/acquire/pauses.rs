//! The pauses between the checks of a thread that spins before it sleeps, and its yields.
//!
//! A check costs the holder: it takes the cache line away that the release is about to write. A check that comes late costs the
//! lock: it stays free for so long, or is taken by another. So the pauses double while others make progress between two checks,
//! as they do where critical sections are short and a check too many hurts most. Where nothing has changed since the last check,
//! the section is long, and the pauses are short enough to find the lock in a gap of 200 ns.

use std::hint::spin_loop;
use std::thread;

use crate::sync::MODEL;

/// All pauses of a thread before it sleeps, some 40 ns each: 5 µs.
const ALL: u32 = if MODEL { 1 } else { 127 };

/// The most pauses between two checks: while others make progress, and while nothing changes.
const MOST: u32 = 64;
const MOST_WITHOUT_PROGRESS: u32 = 4;

pub(crate) struct Pauses {
    next: u32,
    left: u32,
    has_found_progress: bool,
}

impl Pauses {
    pub(crate) fn new() -> Self {
        Self { next: 1, left: ALL, has_found_progress: false }
    }

    /// Pauses until the next check. `false`: it is time to sleep.
    pub(crate) fn pause(&mut self) -> bool {
        if self.left == 0 {
            return false;
        }
        let pauses = self.next.min(self.left);
        self.left -= pauses;
        (0..pauses).for_each(|_| spin_loop());
        true
    }

    /// Whether the spin has lasted for all of them.
    pub(crate) fn are_used_up(&self) -> bool {
        self.left == 0
    }

    /// Whether others have acquired or released during the spin.
    pub(crate) fn have_found_progress(&self) -> bool {
        self.has_found_progress
    }

    /// Whether others have acquired or released since the last check.
    pub(crate) fn found(&mut self, progress: bool) {
        self.has_found_progress |= progress;
        self.next = (2 * self.next).min(if progress { MOST } else { MOST_WITHOUT_PROGRESS });
    }
}

/// How often a thread yields before it sleeps itself.
const YIELDS: u32 = if MODEL { 1 } else { 4 };

/// A queued thread yields while what it waits for is reserved for another, before it sleeps: that waiter, or a holder that is in its way, may
/// need this CPU, and the reservation may end before this thread would be asleep. Returns whether it has ended, and this thread is not
/// signalled.
pub(crate) fn yield_while(is_reserved: impl Fn() -> bool, is_signalled: impl Fn() -> bool) -> bool {
    for _ in 0..YIELDS {
        thread::yield_now();
        if is_signalled() {
            return false;
        }
        if !is_reserved() {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pauses before each check.
    fn pauses(progress: impl Fn(usize) -> bool) -> Vec<u32> {
        let (mut pauses, mut before) = (Pauses::new(), Vec::new());
        loop {
            let left = pauses.left;
            if !pauses.pause() {
                return before;
            }
            before.push(left - pauses.left);
            pauses.found(progress(before.len()));
        }
    }

    #[test]
    fn checks_are_rare_only_while_others_make_progress() {
        assert_eq!(pauses(|_| true), [1, 2, 4, 8, 16, 32, 64]);
        let long = pauses(|_| false);
        assert_eq!((&long[..4], long.iter().max()), (&[1, 2, 4, 4][..], Some(&4)));
        let becomes_long = pauses(|check| check < 5);
        assert_eq!(becomes_long[..7], [1, 2, 4, 8, 16, 4, 4]);
        for all in [long, becomes_long] {
            assert_eq!(all.iter().sum::<u32>(), ALL);
        }
    }
}
