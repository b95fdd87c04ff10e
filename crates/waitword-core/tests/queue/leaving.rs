//! Waits that end without a notify: cancelled, late or interrupted.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use waitword_core::*;

use crate::common::{poll, until};

#[test]
fn a_timeout_is_never_early_and_leaves_nothing_behind() {
    let word = AtomicI32::new(0);
    for timeout in [1, 3, 7].map(Duration::from_millis) {
        let start = Instant::now();
        assert_eq!(wait_for(&word, 0, timeout), Outcome::TimedOut);
        assert!(start.elapsed() >= timeout);
        let start = Instant::now();
        assert_eq!(smol::future::block_on(wait_async_for(&word, 0, timeout)), Outcome::TimedOut);
        assert!(start.elapsed() >= timeout);
    }
    assert_eq!(notify_all(&word), 0);
}

#[test]
fn a_thread_is_queued_from_the_enqueue_until_the_notify_returns() {
    static WORD: AtomicI32 = AtomicI32::new(0);
    let (sender, receiver) = std::sync::mpsc::channel();
    let waiter = std::thread::spawn(move || {
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
        until(|| interrupt.is_queued());
        assert_eq!(notify_one(&WORD), 1, "it said that it stands in the queue");
    }
    until(|| interrupt.is_queued());
    WORD.store(1, Ordering::SeqCst);
    assert_eq!(notify_one(&WORD), 1);
    assert!(!interrupt.is_queued(), "the notify has returned");
    assert_eq!(waiter.join().unwrap(), 1_001);
    assert!(!interrupt.is_queued());
}

#[test]
fn a_thread_is_not_queued_after_a_wait_that_ended_by_itself() {
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

/// The waker that the poll at the deadline replaces notifies in its destructor: after the poll, before the cancel.
#[test]
fn a_notify_within_the_poll_at_the_deadline_is_not_a_timeout() {
    static WORD: AtomicU32 = AtomicU32::new(0);
    static COUNTED: AtomicUsize = AtomicUsize::new(0);
    struct Notifies;
    impl Wake for Notifies {
        fn wake(self: Arc<Self>) {}
    }
    impl Drop for Notifies {
        fn drop(&mut self) {
            COUNTED.fetch_add(notify_one(&WORD), Ordering::SeqCst);
        }
    }
    let waker = Waker::from(Arc::new(Notifies));
    let mut cx = Context::from_waker(&waker);
    // Longer on a machine so slow that the deadline had passed at the first poll.
    let (mut wait, deadline) = (0..)
        .map(|doubled| Instant::now() + Duration::from_millis(20 << doubled))
        .map(|deadline| (Box::pin(wait_async_until(&WORD, 0, deadline)), deadline))
        .find_map(|(mut wait, deadline)| wait.as_mut().poll(&mut cx).is_pending().then_some((wait, deadline)))
        .expect("a deadline that lies ahead");
    until(|| Instant::now() >= deadline);
    drop(waker);
    assert_eq!(poll(wait.as_mut()), Poll::Ready(Outcome::Notified));
    assert_eq!(COUNTED.load(Ordering::SeqCst), 1);
}
