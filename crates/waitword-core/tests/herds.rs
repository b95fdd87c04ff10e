//! Herds of threads on one word: woken threads wake others (`thread/sleeper.rs`), or one call wakes many (`thread/room.rs`).

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use waitword_core::{
    Interrupt, Interrupted, Outcome, Parker, Table, notify_all, notify_many, notify_one, wait, wait_for,
    wait_interruptible,
};

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

/// A thread that was woken in a crowd sleeps with others next time: a notify of one wakes it there, and so do an interrupt and a waker.
#[test]
fn a_thread_of_a_crowd_is_woken_alone() {
    const THREADS: usize = 16;
    for _ in 0..50 {
        let (table, words) = (&Table::with_shards(1), &std::array::from_fn::<_, 6, _>(|_| AtomicU32::new(0)));
        let (send, wakers) = mpsc::channel();
        thread::scope(|scope| {
            for _ in 0..THREADS {
                let send = send.clone();
                scope.spawn(move || {
                    let waits = |word: usize| assert_eq!(wait(table.at(&words[word]), 0), Outcome::Notified);
                    let (interrupt, parker) = (Arc::new(Interrupt::for_current_thread()), Parker::current());
                    send.send((Arc::clone(&interrupt), parker.waker().clone())).unwrap();
                    [0, 1, 2].into_iter().for_each(waits);
                    let interrupted = wait_interruptible(table.at(&words[3]), 0, None, &interrupt);
                    assert_eq!(interrupted, Err(Interrupted));
                    waits(4);
                    while words[5].load(Ordering::SeqCst) == 0 {
                        parker.park();
                    }
                });
            }
            let wakers = wakers.iter().take(THREADS).collect::<Vec<_>>();
            let crowd_on = |word: usize| {
                while table.waiters(&words[word]) < THREADS {
                    thread::yield_now();
                }
                table.at(&words[word])
            };
            assert_eq!(notify_all(crowd_on(0)), THREADS);
            let at = crowd_on(1);
            (0..THREADS).for_each(|_| assert_eq!(notify_one(at), 1));
            assert_eq!(notify_all(crowd_on(2)), THREADS);
            crowd_on(3);
            wakers.iter().for_each(|(interrupt, _)| interrupt.raise());
            assert_eq!(notify_all(crowd_on(4)), THREADS);
            words[5].store(1, Ordering::SeqCst);
            wakers.into_iter().for_each(|(_, waker)| waker.wake());
        });
    }
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
