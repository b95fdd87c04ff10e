//! What others can learn about a blocked thread, and how they can end its wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use waitword_core::{Interrupt, Interrupted, Outcome, notify_one, wait_interruptible};

#[test]
fn is_queued_from_the_queue_on_until_the_notify_returns() {
    static WORD: AtomicI32 = AtomicI32::new(0);
    let (sender, receiver) = channel();
    let waiter = thread::spawn(move || {
        let interrupt = Arc::new(Interrupt::for_current_thread());
        sender.send(Arc::clone(&interrupt)).unwrap();
        let mut notified = 0;
        while WORD.load(Ordering::SeqCst) == 0 {
            if wait_interruptible(&WORD, 0, None, &interrupt) == Ok(Outcome::Notified) {
                notified += 1;
            }
        }
        notified
    });
    let interrupt = receiver.recv().unwrap();
    for _ in 0..1_000 {
        while !interrupt.is_queued() {
            thread::yield_now();
        }
        assert_eq!(notify_one(&WORD), 1, "it said that it stands in the queue");
    }
    while !interrupt.is_queued() {
        thread::yield_now();
    }
    WORD.store(1, Ordering::SeqCst);
    assert_eq!(notify_one(&WORD), 1);
    assert!(!interrupt.is_queued(), "the notify has returned");
    assert_eq!(waiter.join().unwrap(), 1_001);
    assert!(!interrupt.is_queued());
}

#[test]
fn is_not_queued_after_a_wait_that_ended_by_itself() {
    let word = AtomicI32::new(0);
    let interrupt = Interrupt::for_current_thread();
    let soon = Some(Duration::from_millis(1));
    assert_eq!(wait_interruptible(&word, 0, soon, &interrupt), Ok(Outcome::TimedOut));
    assert!(!interrupt.is_queued());
    assert_eq!(wait_interruptible(&word, 1, None, &interrupt), Ok(Outcome::NotEqual));
    assert!(!interrupt.is_queued());
    interrupt.raise();
    assert_eq!(wait_interruptible(&word, 0, None, &interrupt), Err(Interrupted));
    assert!(!interrupt.is_queued());
}
