//! How a thread spins before it sleeps: its pauses and yields, and whether it spins at all.
//!
//! # Pauses
//! A check slows the holder down, because it takes away the cache line that the release is about to write. A check that comes late costs
//! time, because the lock stays free meanwhile, or another thread takes it. So the pauses double while others make progress between two
//! checks. Critical sections are short then, and a superfluous check hurts most. If nothing has changed since the last check, the critical
//! section is long, and the pauses are short enough to find the lock in a gap of 200 ns.
//!
//! # Learning
//! A thread that finds a lock taken spins for up to 5 µs before it enqueues. That is in vain
//! - if critical sections are longer,
//! - if the holder has lost its CPU, or
//! - if the holder needs the CPU of the spinning thread: two threads that take turns on one CPU would lose 5 µs a turn.
//!
//! A lock's word has no bits left to record how spins went. So each thread records its own, for all locks together, because locks of one
//! program behave alike.
//!
//! | the latest spins                             | when the thread finds a lock taken                        |
//! |----------------------------------------------|-----------------------------------------------------------|
//! | one of the last eight was worth it           | it spins                                                  |
//! | eight in a row were in vain                  | it enqueues at once; one time of 16 it spins, to find out |
//!
//! - A spin was worth it in these cases:
//!   - It ended with the lock.
//!   - The thread, queued by then, was signalled meanwhile (`drive.rs`), because then the signaller is awake.
//!   - Others acquired or released the lock during it. Critical sections are short then, and a thread that enqueues at once costs the
//!     holder a signal (that lowers the throughput of a queue with condition variables by 1/5).
//! - A spin was in vain if nothing has changed during all of its time.
//! - A spin that was broken off, because the lock is reserved for a waiter, took little time and is not recorded.

use std::cell::Cell;
use std::hint::spin_loop;
use std::{mem, thread};
use waitword_core::time::{Duration, Instant};

use crate::sync::MODEL;

/// For how long a thread spins before it sleeps. Measured: a pause takes 10 cycles on one processor, and 140 on another.
const SPIN: Duration = Duration::from_micros(5);

/// The most pauses between two checks: while others make progress, and while nothing changes.
const MOST_PAUSES: u32 = 64;
const MOST_PAUSES_WITHOUT_PROGRESS: u32 = 4;

/// The number of pauses between two reads of the clock, each of which takes as long as one or two pauses.
const PAUSES_PER_CLOCK_READ: u32 = 32;

pub(crate) struct Pauses {
    next: u32,
    /// Since the clock was read.
    pauses: u32,
    /// `None` before the clock is read for the first time.
    until: Option<Instant>,
    is_over: bool,
    has_found_progress: bool,
}

impl Pauses {
    pub(crate) fn new() -> Self {
        Self { next: 1, pauses: 0, until: None, is_over: false, has_found_progress: false }
    }

    /// Pauses until the next check. Returns `false` if it is time to sleep.
    pub(crate) fn pause(&mut self) -> bool {
        if MODEL {
            // One, and no clock.
            return !mem::replace(&mut self.is_over, true);
        }
        if self.pauses >= PAUSES_PER_CLOCK_READ {
            let now = Instant::now();
            self.pauses = 0;
            self.is_over = *self.until.get_or_insert(now + SPIN) <= now;
        }
        if !self.is_over {
            self.pauses += self.next;
            (0..self.next).for_each(|_| spin_loop());
        }
        !self.is_over
    }

    /// Whether the spin has lasted for all of its time.
    pub(crate) fn are_used_up(&self) -> bool {
        self.is_over
    }

    /// Whether others have acquired or released during the spin.
    pub(crate) fn have_found_progress(&self) -> bool {
        self.has_found_progress
    }

    /// Whether others have acquired or released since the last check.
    pub(crate) fn found(&mut self, progress: bool) {
        self.has_found_progress |= progress;
        self.next = (2 * self.next).min(if progress { MOST_PAUSES } else { MOST_PAUSES_WITHOUT_PROGRESS });
    }
}

/// How often a thread yields before it sleeps itself.
const YIELDS: u32 = if MODEL { 1 } else { 4 };

/// Before it sleeps, a queued thread yields while the lock is reserved for another waiter. That waiter, or a holder for which it waits, may
/// need this CPU, and the reservation may end before this thread would be asleep. Returns whether the reservation has ended and this thread
/// is not signalled.
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

/// After this many spins in vain in a row, the next one is taken to be in vain, too.
const ENOUGH: u8 = 8;

/// After that, one acquisition in this many spins.
const ONE_OF: u8 = 16;

thread_local! {
    static LEARNED: Cell<Learned> = const { Cell::new(Learned::NOTHING) };
}

/// How the spins of a thread went.
#[derive(Clone, Copy, Debug)]
struct Learned {
    /// How many of the latest spins in a row were in vain, up to [`ENOUGH`].
    in_vain: u8,
    /// The acquisitions since then that did not spin.
    skipped: u8,
}

/// Whether to spin in the acquisition that begins.
pub(crate) fn is_due() -> bool {
    // A model runs all of its threads on one.
    MODEL || {
        let mut learned = LEARNED.get();
        let is_due = learned.is_due();
        LEARNED.set(learned);
        is_due
    }
}

/// A spin was worth it, or in vain.
pub(crate) fn learn(is_worth_it: bool) {
    if !MODEL {
        LEARNED.set(LEARNED.get().after(is_worth_it));
    }
}

impl Learned {
    const NOTHING: Self = Self { in_vain: 0, skipped: 0 };

    fn is_due(&mut self) -> bool {
        let is_due = self.in_vain < ENOUGH || self.skipped == ONE_OF - 1;
        self.skipped = if is_due { 0 } else { self.skipped + 1 };
        is_due
    }

    fn after(self, is_worth_it: bool) -> Self {
        let in_vain = if is_worth_it { 0 } else { (self.in_vain + 1).min(ENOUGH) };
        Self { in_vain, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pauses before each of 10 checks.
    fn pauses(progress: impl Fn(usize) -> bool) -> Vec<u32> {
        let mut pauses = Pauses::new();
        let check = |check| {
            let before = pauses.next;
            pauses.found(progress(check));
            before
        };
        (1..=10).map(check).collect()
    }

    #[test]
    fn checks_are_rare_only_while_others_make_progress() {
        assert_eq!(pauses(|_| true), [1, 2, 4, 8, 16, 32, 64, 64, 64, 64]);
        assert_eq!(pauses(|_| false), [1, 2, 4, 4, 4, 4, 4, 4, 4, 4]);
        assert_eq!(pauses(|check| check < 5)[..7], [1, 2, 4, 8, 16, 4, 4]);
    }

    #[test]
    fn a_spin_lasts_for_its_time() {
        let mut pauses = Pauses::new();
        loop {
            let (before, had_begun) = (Instant::now(), pauses.until.is_some());
            let goes_on = pauses.pause();
            match pauses.until {
                Some(until) if !had_begun => {
                    assert!(until >= before + SPIN, "since the clock was read first")
                }
                Some(until) if !goes_on => {
                    assert!(pauses.are_used_up() && Instant::now() >= until);
                    return;
                }
                _ => assert!(goes_on && !pauses.are_used_up()),
            }
            pauses.found(false);
        }
    }

    /// How many of `acquisitions` spin, if all spins are worth it or all in vain.
    fn spins_of(learned: &mut Learned, acquisitions: u32, are_worth_it: bool) -> u32 {
        let mut spins = 0;
        for _ in 0..acquisitions {
            if learned.is_due() {
                *learned = learned.after(are_worth_it);
                spins += 1;
            }
        }
        spins
    }

    #[test]
    fn a_thread_whose_spins_are_in_vain_spins_one_time_of_16() {
        let mut learned = Learned::NOTHING;
        assert_eq!(spins_of(&mut learned, 8, false), 8);
        assert_eq!(spins_of(&mut learned, 16 * 100, false), 100);
    }

    #[test]
    fn one_that_is_worth_it_is_enough_to_spin_again() {
        let mut learned = Learned::NOTHING;
        spins_of(&mut learned, 1_000, false);
        learned = learned.after(true);
        assert_eq!(spins_of(&mut learned, 100, true), 100);
        // One in eight pays for seven in vain.
        for _ in 0..100 {
            assert_eq!((spins_of(&mut learned, 7, false), spins_of(&mut learned, 1, true)), (7, 1));
        }
    }
}
