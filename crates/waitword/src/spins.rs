//! Whether a thread that finds a lock taken spins before it enqueues: it learns.
//!
//! Such a spin takes up to 5 µs. It is in vain where critical sections are longer, where the holder has lost its CPU, and where the holder needs
//! this one: two threads that take turns on one CPU would lose 5 µs a turn. No word has room for how spins went, and the next lock of the same
//! program is used the same way, as a rule; so each thread keeps it for itself, for all of its locks.
//!
//! | the latest spins                             | when the thread finds a lock taken                        |
//! |----------------------------------------------|-----------------------------------------------------------|
//! | one of the last eight was worth it           | it spins                                                  |
//! | eight in a row were in vain                  | it enqueues at once; one time of 16 it spins, to find out |
//!
//! - A spin is worth it that ends with the lock. So is one of a queued thread that is signalled meanwhile (`drive.rs`), and has not slept: the
//!   other one is awake. And so is one during which others acquired or released the lock, for then sections are short, and a thread that
//!   enqueues at once has the holder signal it (a queue with condition variables: a fifth less throughput).
//! - A spin is in vain if nothing has changed during all of its time.
//! - One that is broken off, because the lock is reserved for a waiter, took little time and says nothing.

use std::cell::Cell;

use crate::sync::MODEL;

/// So many spins in vain in a row say that the next one will be in vain, too.
const ENOUGH: u8 = 8;

/// From then on one acquisition of so many spins.
const ONE_OF: u8 = 16;

thread_local! {
    static LEARNED: Cell<Learned> = const { Cell::new(Learned::NOTHING) };
}

/// How the spins of a thread went.
#[derive(Clone, Copy, Debug)]
struct Learned {
    /// So many of the latest in a row, up to [`ENOUGH`].
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

    /// How many of so many acquisitions spin, all worth it or all in vain.
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
