//! Waits that end without a notify: dropped, cancelled, late or interrupted.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicI32;
use std::task::Poll;
use std::time::{Duration, Instant};

use waitword_core::*;

use crate::common::{poll, until};

#[test]
fn dropped_waits_leave_the_queue_from_every_place_in_it() {
    for dropped in 0..1_u32 << 5 {
        let word = AtomicI32::new(0);
        let mut waits: Vec<_> = (0..5).map(|_| Some(Box::pin(wait_async(&word, 0)))).collect();
        assert!(waits.iter_mut().flatten().all(|wait| poll(wait.as_mut()).is_pending()));
        for (place, wait) in waits.iter_mut().enumerate() {
            if dropped >> place & 1 == 1 {
                *wait = None;
            }
        }
        let left: Vec<_> = waits.iter_mut().flatten().collect();
        assert_eq!(Table::global().waiters(&word), left.len());
        for wait in left {
            assert!(poll(wait.as_mut()).is_pending());
            assert_eq!(notify_one(&word), 1);
            assert_eq!(poll(wait.as_mut()), Poll::Ready(Outcome::Notified));
        }
        assert_eq!(notify_one(&word), 0);
    }
}

#[test]
fn cancel_says_whether_a_notify_was_lost() {
    let word = AtomicI32::new(0);
    let mut never_polled = pin!(wait_async(&word, 0));
    assert_eq!(never_polled.as_mut().cancel(), Cancelled::BeforeNotify);
    let mut waiting = pin!(wait_async(&word, 0));
    assert!(poll(waiting.as_mut()).is_pending());
    assert!(waiting.is_waiting());
    assert_eq!(waiting.as_mut().cancel(), Cancelled::BeforeNotify);
    assert!(!waiting.is_waiting());
    let mut notified = pin!(wait_async(&word, 0));
    assert!(poll(notified.as_mut()).is_pending());
    assert_eq!(notify_all(&word), 1);
    assert_eq!(notified.as_mut().cancel(), Cancelled::AfterNotify);
    assert_eq!(notified.as_mut().cancel(), Cancelled::BeforeNotify, "returned once");
    let mut done = pin!(wait_async(&word, 1));
    assert_eq!(poll(done.as_mut()), Poll::Ready(Outcome::NotEqual));
    assert_eq!(done.as_mut().cancel(), Cancelled::BeforeNotify);
}

#[test]
fn a_leaked_wait_stays_counted_and_does_no_harm() {
    let word = AtomicI32::new(0);
    let mut leaked = Box::pin(wait_async(&word, 0));
    assert!(poll(leaked.as_mut()).is_pending());
    // As `mem::forget`, but so that leak checkers have nothing to say.
    let leaked = std::mem::ManuallyDrop::new(leaked);
    let mut behind = pin!(wait_async(&word, 0));
    assert!(poll(behind.as_mut()).is_pending());
    assert_eq!(notify_all(&word), 2);
    assert_eq!(poll(behind), Poll::Ready(Outcome::Notified));
    drop(std::mem::ManuallyDrop::into_inner(leaked));
}

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
fn deadlines_at_the_ends_of_time() {
    let word = AtomicI32::new(0);
    let long_ago = Instant::now();
    assert_eq!(wait_until(&word, 0, long_ago), Outcome::TimedOut);
    assert_eq!(poll(pin!(wait_async_until(&word, 0, long_ago))), Poll::Ready(Outcome::TimedOut));
    let mut for_ever = pin!(wait_async_for(&word, 0, Duration::MAX));
    assert!(poll(for_ever.as_mut()).is_pending());
    let mut nearly = pin!(wait_async_for(&word, 0, Duration::from_secs(u64::from(u32::MAX))));
    assert!(poll(nearly.as_mut()).is_pending());
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| wait_for(&word, 0, Duration::MAX));
        until(|| Table::global().waiters(&word) == 3);
        assert_eq!(notify_all(&word), 3);
        assert_eq!(thread.join().unwrap(), Outcome::Notified);
    });
    assert_eq!(poll(for_ever), Poll::Ready(Outcome::Notified));
    assert_eq!(poll(nearly), Poll::Ready(Outcome::Notified));
}

#[test]
fn an_interrupted_wait_has_left_the_queue() {
    let word = AtomicI32::new(0);
    std::thread::scope(|scope| {
        let (send, receive) = std::sync::mpsc::channel();
        let word = &word;
        let thread = scope.spawn(move || {
            let interrupt = Arc::new(Interrupt::for_current_thread());
            send.send(Arc::clone(&interrupt)).unwrap();
            let interrupted = wait_interruptible(word, 0, None, &interrupt);
            assert_eq!(notify_all(word), 0);
            interrupted
        });
        let interrupt = receive.recv().unwrap();
        until(|| Table::global().waiters(word) == 1);
        assert!(!interrupt.is_raised());
        interrupt.raise();
        assert_eq!(thread.join().unwrap(), Err(Interrupted));
    });
}
