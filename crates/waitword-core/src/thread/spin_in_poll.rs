//! A task's spin, in its poll, before it enqueues.
//!
//! A task whose partner runs on another CPU is answered within a microsecond; a wake through a waker, a run queue and often a sleeping
//! worker takes 50 µs. But a poll that spins in vain keeps its worker from other tasks, and on one CPU the partner from running. So a poll
//! spins for a microsecond at most, and each thread has a credit for the tasks that it polls:
//!
//! ```text
//!   credit ◄── 1 µs at the beginning
//!          ◄── a task that enqueues:       1 ns
//!          ◄── a spin that was answered:   2 µs, which is less than a waker and a run queue would have cost
//!          ──► a spin in vain:             the time it took, a microsecond
//!          ──► others are queued:          100 ns, so that one wait in 100 checks that
//! ```
//! A thread that has just woken another that was awake (`spin.rs`), or was answered the last time, spins while there is credit. Otherwise
//! it spins when there is credit for four spins, to find out whether that pays: one wait in 1,000, if all are in vain.

use std::cell::Cell;
use std::hint::spin_loop;

use crate::sync::MODEL;
use crate::time::{Duration, Instant};

/// For how long a poll spins.
const LIMIT: Duration = Duration::from_micros(1);

/// Credit, in nanoseconds: for one spin, which a thread has at the beginning; enough to spin without a sign that it pays; the most.
const SPIN: u32 = 1_000;
const ENOUGH: u32 = 4 * SPIN;
const MOST: u32 = 20_000;

/// What an answered spin earns, and what an enqueue does.
const ANSWER: u32 = 2_000;
const WAIT: u32 = 1;

/// What it costs to find that others are queued.
const LOOK: u32 = 100;

thread_local! {
    static LEARNED: Cell<Learned> = const { Cell::new(Learned { credit: SPIN, is_due: false }) };
}

/// What a thread has learned for the tasks that it polls.
#[derive(Clone, Copy, Debug)]
struct Learned {
    /// For how long they may spin, in nanoseconds.
    credit: u32,
    /// Whether the next wait spins.
    is_due: bool,
}

/// For building locks: in the poll of a task that would have to wait, checks for up to a microsecond whether it still has to, if that has
/// paid on this thread lately. `check` returns `Some(true)` when the wait is over, and `None` if it is not worth spinning for, because
/// others are queued already. It neither notifies nor waits. Returns whether the wait is over.
#[inline]
pub fn spin_in_poll(check: impl FnMut() -> Option<bool>) -> bool {
    is_spin_due() && spin_and_learn(check)
}

/// Whether [`spin_and_learn`] is to be called.
#[inline]
pub(crate) fn is_spin_due() -> bool {
    // A model has no time: it would only check once more.
    !MODEL && LEARNED.get().is_due
}

/// A task enqueues: earns credit for later spins.
#[inline]
pub(crate) fn earn() {
    let credit = LEARNED.get().credit + WAIT;
    LEARNED.set(Learned { credit: credit.min(MOST), is_due: credit >= ENOUGH });
}

/// This thread has woken another that was awake, and that may answer at once.
pub(super) fn expect_answer() {
    let Learned { credit, is_due } = LEARNED.get();
    LEARNED.set(Learned { credit, is_due: is_due || credit >= SPIN });
}

/// As [`spin_in_poll`], where it is due.
#[cold]
pub(crate) fn spin_and_learn(check: impl FnMut() -> Option<bool>) -> bool {
    let (spun, credit) = (spin(check), LEARNED.get().credit);
    let credit = match spun {
        Some((true, _)) => (credit + ANSWER).min(MOST),
        Some((false, took)) => credit.saturating_sub(took),
        None => credit.saturating_sub(LOOK),
    };
    let is_over = matches!(spun, Some((true, _)));
    LEARNED.set(Learned { credit, is_due: is_over || credit >= ENOUGH });
    is_over
}

/// Whether the wait is over, and how long it spun. `None`: others are queued, so the spin was broken off.
fn spin(mut check: impl FnMut() -> Option<bool>) -> Option<(bool, u32)> {
    if check()? {
        return Some((true, 0));
    }
    let start = Instant::now();
    let mut pauses = 1;
    loop {
        // Each check takes the cache line away from the partner that is about to write.
        (0..pauses).for_each(|_| spin_loop());
        pauses = (2 * pauses).min(4);
        let (is_over, took) = (check()?, start.elapsed());
        if is_over || took >= LIMIT {
            // A thread that was preempted while it spun did not use that time.
            return Some((is_over, (took.as_nanos() as u32).clamp(SPIN, 2 * SPIN)));
        }
    }
}

#[cfg(test)]
pub(crate) fn credit() -> u32 {
    LEARNED.get().credit
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// How many of `waits` waits spin. A wait is over at once if `is_over`, otherwise never.
    fn spins(waits: u32, is_over: bool) -> u32 {
        let spins = Cell::new(0);
        for _ in 0..waits {
            let is_first = Cell::new(true);
            let check = || {
                spins.set(spins.get() + u32::from(is_first.take()));
                Some(is_over)
            };
            if !spin_in_poll(check) {
                earn();
            }
        }
        spins.get()
    }

    #[test]
    fn spins_in_vain_cost_no_more_than_the_credit() {
        // A nanosecond for each wait; each spin takes a microsecond.
        let learns = || assert!((1..=10).contains(&spins(10_000, false)));
        std::thread::spawn(learns).join().unwrap();
    }

    #[test]
    fn a_thread_that_was_answered_spins_again() {
        let learns = || {
            spins(10_000, false);
            // Until one spins to find out.
            assert!(spins(5_000, true) >= 1_000);
            assert_eq!(spins(100, true), 100);
        };
        std::thread::spawn(learns).join().unwrap();
    }

    #[test]
    fn answers_pay_for_spins_in_vain_up_to_a_limit() {
        let learns = || {
            // One spin that was answered makes the next one due.
            LEARNED.set(Learned { credit: 0, is_due: true });
            assert_eq!(spins(1_000, true), 1_000);
            let most = (MOST - ENOUGH) / SPIN + 1;
            assert!(
                (most / 2..=most + 1).contains(&spins(most + 10, false)),
                "a spin takes one or two microseconds"
            );
        };
        std::thread::spawn(learns).join().unwrap();
    }

    #[test]
    fn behind_others_one_wait_of_100_looks_and_none_spins() {
        let learns = || {
            let checks = Cell::new(0);
            for _ in 0..10_000 {
                assert!(!spin_in_poll(|| {
                    checks.set(checks.get() + 1);
                    None
                }));
                earn();
            }
            assert!((10..=10_000 / LOOK).contains(&checks.get()), "{}", checks.get());
            assert!(spins(200, true) >= 99, "there is credit");
        };
        std::thread::spawn(learns).join().unwrap();
    }
}
