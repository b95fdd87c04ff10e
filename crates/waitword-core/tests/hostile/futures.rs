//! What may be done to the futures: moved, polled with another waker each time, leaked, and left to a thread that ends; and deadlines at both
//! ends of time. (Dropped in every state: `against_the_model.rs`.)

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use waitword_core::*;

use crate::common::{Probe, poll, poll_with, queued, queued_with, until};
use crate::{TimedWait, Wait};

/// Each poll on a thread of its own, with a waker of its own, while others are notified: the last waker is the one to call,
/// and no other is stored, neither in the queue nor in the timer.
#[test]
fn a_future_polled_elsewhere_with_another_waker_each_time() {
    let word = Arc::new(AtomicI32::new(0));
    let mut wait = Box::pin(wait_async(Arc::clone(&word), 0));
    let mut timed = Box::pin(wait_async_for(Arc::clone(&word), 0, Duration::from_secs(3600)));
    let mut before: Option<Probe> = None;
    for round in 0..20 {
        let probe = Probe::new();
        let waker = probe.waker();
        (wait, timed) = std::thread::spawn(move || {
            assert!(poll_with(wait.as_mut(), &waker).is_pending());
            assert!(poll_with(timed.as_mut(), &waker).is_pending());
            (wait, timed)
        })
        .join()
        .unwrap();
        // In two lines' places and one deadline.
        assert_eq!((probe.held(), probe.wakes()), (3, 0), "round {round}");
        assert_eq!(before.replace(probe).map_or((0, 0), |old| (old.held(), old.wakes())), (0, 0));
        assert_eq!(Table::global().waiters(&*word), 2);
    }
    let last = before.unwrap();
    assert_eq!(notify_all(&word), 2);
    assert_eq!(last.wakes(), 2);
    assert_eq!(poll(wait.as_mut()), Poll::Ready(Outcome::Notified));
    assert_eq!(poll(timed.as_mut()), Poll::Ready(Outcome::Notified));
    assert_eq!(last.held(), 0);
}

/// Polled here and notified there, all the time: as many wakes are had as were counted.
#[test]
fn a_future_that_moves_while_it_is_notified() {
    const ROUNDS: usize = 300;
    let word = Arc::new(AtomicI32::new(0));
    let notifier = {
        let word = Arc::clone(&word);
        std::thread::spawn(move || {
            let mut counted = 0;
            while word.load(Ordering::SeqCst) == 0 {
                counted += notify_all(&word);
            }
            counted + notify_all(&word)
        })
    };
    let mut notified = 0;
    for _ in 0..ROUNDS {
        let mut wait = Box::pin(wait_async(Arc::clone(&word), 0));
        let outcome = loop {
            let polled;
            (wait, polled) = std::thread::spawn(move || {
                let polled = poll_with(wait.as_mut(), &Probe::new().waker());
                (wait, polled)
            })
            .join()
            .unwrap();
            if let Poll::Ready(outcome) = polled {
                break outcome;
            }
        };
        notified += usize::from(outcome == Outcome::Notified);
    }
    word.store(1, Ordering::SeqCst);
    assert_eq!(notified, ROUNDS);
    assert_eq!(notifier.join().unwrap(), ROUNDS);
}

/// Its deadline passes, and it is counted, although it is not polled any more; the deadlines and positions of others do not change.
#[test]
fn a_leaked_wait_with_a_deadline_does_no_harm() {
    let word = AtomicI32::new(0);
    let probe = Probe::new();
    // As `mem::forget`, but so that leak checkers have nothing to say.
    let mut leaked =
        ManuallyDrop::new(Box::pin(wait_async_until(&word, 0, Instant::now() + Duration::from_millis(20))));
    if poll_with(leaked.as_mut(), &probe.waker()).is_ready() {
        drop(ManuallyDrop::into_inner(leaked));
        return; // The machine slept for longer between two lines; nothing to see here.
    }
    another_deadline_is_met();
    until(|| probe.wakes() == 1);
    another_deadline_is_met();
    let mut behind = queued(&word, 0);
    assert_eq!(notify_one(&word), 1, "the leaked one eats a notify");
    assert!(poll(behind.as_mut()).is_pending());
    assert_eq!(notify_one(&word), 1);
    assert_eq!(poll(behind.as_mut()), Poll::Ready(Outcome::Notified));
    drop(ManuallyDrop::into_inner(leaked));
}

/// Some of a thread's waits end with it, by the destructor of a thread-local, and some outlive it; it ends in a panic or not.
#[test]
fn a_thread_that_exits_with_the_table_full() {
    const WORDS: usize = 1000;
    const EACH: usize = 3;
    thread_local!(static STORED: RefCell<(Vec<Wait>, Option<TimedWait>)> = RefCell::default());
    for panics in [false, true] {
        let words: Vec<_> = (0..WORDS).map(|_| Arc::new(AtomicI32::new(0))).collect();
        let probe = Probe::new();
        let (waker, of_thread) = (probe.waker(), words.clone());
        let (send, receive) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let words = of_thread.iter().cycle().take(WORDS * EACH);
            let enter = || words.clone().map(|word| queued_with(Arc::clone(word), 0, &waker)).collect();
            let (stored, given): (Vec<Wait>, Vec<Wait>) = (enter(), enter());
            let _unwound: Option<Vec<Wait>> = panics.then(enter);
            let mut timed = Box::pin(wait_async_for(Arc::clone(&of_thread[0]), 0, Duration::from_secs(3600)));
            assert!(poll_with(timed.as_mut(), &waker).is_pending());
            STORED.set((stored, Some(timed)));
            send.send(given).unwrap();
            if panics {
                std::panic::resume_unwind(Box::new(()));
            }
        });
        let mut given = receive.recv().unwrap();
        assert_eq!(thread.join().is_err(), panics);
        assert_eq!(probe.held(), WORDS * EACH, "those that are here");
        for (index, word) in words.iter().enumerate() {
            assert_eq!(Table::global().waiters(&**word), EACH, "{index}");
            assert_eq!(notify_all(word), EACH);
        }
        assert_eq!(probe.wakes(), WORDS * EACH);
        assert!(given.iter_mut().all(|wait| poll(wait.as_mut()) == Poll::Ready(Outcome::Notified)));
    }
}

/// The first and the last instant that there are, waited for by threads and by tasks.
#[test]
fn deadlines_at_both_ends_of_what_an_instant_can_say() {
    let now = Instant::now();
    let (mut first, mut last) = (now, now);
    for step in (0..u64::BITS).rev().map(|bit| Duration::from_secs(1 << bit)) {
        first = first.checked_sub(step).unwrap_or(first);
        last = last.checked_add(step).unwrap_or(last);
    }
    last = last.checked_add(Duration::from_nanos(999_999_999)).unwrap_or(last);
    let word = AtomicI32::new(0);
    for deadline in [first, now] {
        assert_eq!(wait_until(&word, 1, deadline), Outcome::NotEqual);
        assert_eq!(wait_until(&word, 0, deadline), Outcome::TimedOut);
        assert_eq!(poll(pin!(wait_async_until(&word, 1, deadline))), Poll::Ready(Outcome::NotEqual));
        assert_eq!(poll(pin!(wait_async_until(&word, 0, deadline))), Poll::Ready(Outcome::TimedOut));
    }
    assert_eq!(notify_all(&word), 0);
    std::thread::scope(|scope| {
        let mut task = Box::pin(wait_async_until(&word, 0, last));
        assert!(poll(task.as_mut()).is_pending());
        let thread = scope.spawn(|| wait_until(&word, 0, last));
        until(|| Table::global().waiters(&word) == 2);
        assert!(poll(task.as_mut()).is_pending());
        // The timer goes on for others meanwhile.
        another_deadline_is_met();
        assert_eq!(notify_all(&word), 2);
        assert_eq!(thread.join().unwrap(), Outcome::Notified);
        assert_eq!(poll(task.as_mut()), Poll::Ready(Outcome::Notified));
    });
}

fn another_deadline_is_met() {
    let wait = wait_async_for(AtomicI32::new(0), 0, Duration::from_millis(1));
    assert_eq!(smol::future::block_on(wait), Outcome::TimedOut);
}
