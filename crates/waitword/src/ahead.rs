//! Waking ahead, of threads that were moved to the queue of a mutex (`notify/ahead.rs` of the core): whether it pays.
//!
//! A thread that is woken ahead of its signal finds the mutex free if sections are short, and has been woken in vain if they are long: some
//! 15 µs of a CPU, which may have other work. How long they are no word has room for, so each thread keeps how that went for itself:
//! it wakes others only while most of its own wake-ups have paid. The notifier wakes two all the same, so sections that have become
//! short are found out.

use std::cell::Cell;

use waitword_core::{Location, wake_ahead};

use crate::sync::MODEL;

/// The most credit, and that of a thread that knows nothing yet.
const MOST: u8 = 8;

/// What a wake-up in vain costs; one that pays earns 1.
const IN_VAIN: u8 = 2;

thread_local! {
    static CREDIT: Cell<u8> = const { Cell::new(MOST) };
}

/// Wakes others ahead, in a thread that may have been woken so itself and has found the mutex free.
pub(crate) fn wake_others(queue: impl Location) {
    // A model runs all of its threads on one.
    if MODEL || CREDIT.get() > 0 {
        wake_ahead(queue);
    }
}

/// This thread was woken ahead, perhaps, and has taken the mutex, or not.
pub(crate) fn learn(has_paid: bool) {
    let credit = CREDIT.get();
    CREDIT.set(if has_paid { (credit + 1).min(MOST) } else { credit.saturating_sub(IN_VAIN) });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_wakes_no_others_once_it_was_woken_in_vain_too_often_and_does_again_when_it_has_paid() {
        let wakes = || CREDIT.get() > 0;
        assert!(wakes());
        (0..MOST / IN_VAIN).for_each(|_| learn(false));
        assert!(!wakes());
        learn(false);
        learn(true);
        assert!(wakes());
        (0..100).for_each(|_| learn(true));
        // One in three in vain is paid for by the others.
        (0..100).for_each(|turn| learn(turn % 3 != 0));
        assert!(wakes());
    }
}
