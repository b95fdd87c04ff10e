//! Herds of threads on one word.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use waitword_core::{Outcome, Table, notify_all, notify_many, wait, wait_for};

/// More than three batches.
#[test]
fn every_thread_of_a_herd_returns() {
    const THREADS: usize = 100;
    const TIMES: u32 = 20;
    let (table, word) = (Table::with_shards(1), AtomicU32::new(0));
    let at = table.at(&word);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(move || (0..TIMES).for_each(|time| assert_eq!(wait(at, time), Outcome::Notified)));
        }
        for time in 0..TIMES {
            while table.waiters(&word) < THREADS {
                thread::yield_now();
            }
            word.store(time + 1, Ordering::SeqCst);
            assert_eq!(notify_all(at), THREADS);
        }
    });
}

/// Threads leave their parks for a deadline of their own while notifiers give them others to wake, which have no deadline and
/// would sleep for ever.
#[test]
fn a_thread_whose_deadline_comes_loses_none_that_it_is_to_wake() {
    const THREADS: usize = 24;
    const TIMES: u32 = 400;
    let (table, word) = (Table::with_shards(1), AtomicU32::new(0));
    let at = table.at(&word);
    let [notified, counted, left] = [0, 0, THREADS].map(AtomicUsize::new);
    let (notified, counted, left) = (&notified, &counted, &left);
    thread::scope(|scope| {
        for number in 0..THREADS as u32 {
            scope.spawn(move || {
                for time in 0..TIMES {
                    let timeout = Duration::from_micros(u64::from((time * 37 + number * 11) % 200));
                    let outcome =
                        if number.is_multiple_of(2) { wait_for(at, 0, timeout) } else { wait(at, 0) };
                    notified.fetch_add(usize::from(outcome == Outcome::Notified), Ordering::SeqCst);
                }
                left.fetch_sub(1, Ordering::SeqCst);
            });
        }
        for count in [usize::MAX, 7] {
            scope.spawn(move || {
                while left.load(Ordering::SeqCst) > 0 {
                    counted.fetch_add(notify_many(at, count), Ordering::SeqCst);
                    thread::yield_now();
                }
            });
        }
    });
    assert_eq!(notified.load(Ordering::SeqCst), counted.load(Ordering::SeqCst));
}
