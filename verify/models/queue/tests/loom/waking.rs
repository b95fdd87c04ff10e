//! Notifies and interrupts: none is missed, and what was written before is visible to the woken waiter.

use std::pin::pin;
use std::task::Poll;

use loom::future::block_on;
use loom::sync::Arc;
use loom::sync::atomic::Ordering;
use loom::thread::JoinHandle;
use waitword_core::*;

use super::{Shared, model, poll, spawn};

/// However weak the store before the notify is. loom reports a thread that stays parked as a deadlock.
#[test]
fn a_store_then_notify_is_never_missed() {
    for order in [Ordering::SeqCst, Ordering::Relaxed] {
        model(move |shared| {
            let waiter = spawn(shared, |shared| wait(shared.at(0), 0));
            shared.words[0].store(1, order);
            let woken = notify_one(shared.at(0));
            let outcome = waiter.join().unwrap();
            assert_eq!(outcome == Outcome::Notified, woken == 1);
            assert_ne!(outcome, Outcome::TimedOut);
        });
    }
}

// The same for a task, which is polled again when it was woken.
model!(a_store_then_notify_never_misses_a_task, |shared| {
    let task = spawn(shared, |shared| block_on(wait_async(shared.at(0), 0)));
    shared.words[0].store(1, Ordering::Relaxed);
    let woken = notify_all(shared.at(0));
    assert_eq!(task.join().unwrap() == Outcome::Notified, woken == 1);
});

// Fences and the lock order the notifier's writes before the waiter's reads; the word does not.
model!(a_wake_publishes_what_was_written_before, |shared| {
    let waiter = spawn(shared, |shared| {
        if wait(shared.at(0), 0) == Outcome::Notified {
            assert_eq!(shared.words[1].load(Ordering::Relaxed), 7);
        }
    });
    shared.words[1].store(7, Ordering::Relaxed);
    shared.words[0].store(1, Ordering::Relaxed);
    notify_one(shared.at(0));
    waiter.join().unwrap();
});

// The same for a task that reads its outcome by itself: no lock and no wake orders its poll after the notify.
model!(an_outcome_publishes_what_was_written_before, |shared| {
    let task = spawn(shared, |shared| {
        let mut wait = pin!(wait_async(shared.at(0), 0));
        let notified =
            poll(wait.as_mut()) == Poll::Ready(Outcome::Notified) || wait.cancel() == Cancelled::AfterNotify;
        let seen = shared.words[1].load(Ordering::Relaxed);
        assert!(!notified || seen == 7);
    });
    shared.words[1].store(7, Ordering::Relaxed);
    notify_one(shared.at(0));
    task.join().unwrap();
});

// Two notifies at once wake two waiters: the second notify does not find the waiter of the first.
model!(two_notifies_wake_two_waiters, |shared| {
    let (mut first, mut second) = (shared.queued(0), shared.queued(0));
    let notifier = spawn(shared, |shared| notify_one(shared.at(0)));
    assert_eq!(notify_one(shared.at(0)), 1);
    assert_eq!(notifier.join().unwrap(), 1);
    assert!(poll(first.as_mut()).is_ready() && poll(second.as_mut()).is_ready());
});

// A poll with another waker races with the notify: the notify wakes that waker, or the poll finds the outcome.
model!(a_changed_waker_and_a_notify, |shared| {
    let wait = shared.queued(0);
    let notifier = spawn(shared, |shared| notify_one(shared.at(0)));
    assert_eq!(block_on(wait), Outcome::Notified);
    assert_eq!(notifier.join().unwrap(), 1);
});

// A signal takes the waker, and the notify after it has none to wake: acknowledging the signal finds the outcome.
model!(a_notify_after_a_signal_is_not_missed, |shared| {
    let waiter = spawn(shared, |shared| wait(shared.at(0), 0));
    signal_one(shared.at(0));
    shared.words[0].store(1, Ordering::Relaxed);
    let woken = notify_one(shared.at(0));
    assert_eq!(waiter.join().unwrap() == Outcome::Notified, woken == 1);
});

/// A blocking wait, and its interrupt.
fn interruptible(shared: &Arc<Shared>) -> (JoinHandle<Result<Outcome, Interrupted>>, Arc<Interrupt>) {
    let (send, receive) = loom::sync::mpsc::channel();
    let waiter = spawn(shared, move |shared| {
        let interrupt = Arc::new(Interrupt::for_current_thread());
        send.send(Arc::clone(&interrupt)).unwrap();
        wait_interruptible(shared.at(0), 0, None, &interrupt)
    });
    (waiter, receive.recv().unwrap())
}

model!(an_interrupt_and_a_notify, |shared| {
    let (waiter, interrupt) = interruptible(shared);
    interrupt.raise();
    let counted = notify_one(shared.at(0));
    let outcome = waiter.join().unwrap();
    assert_eq!(outcome == Ok(Outcome::Notified), counted == 1);
    assert_ne!(outcome, Ok(Outcome::NotEqual));
});

// Also between the waiter's check of the interrupt and its sleep.
model!(an_interrupt_is_never_missed, |shared| {
    let (waiter, interrupt) = interruptible(shared);
    interrupt.raise();
    drop(interrupt);
    assert_eq!(waiter.join().unwrap(), Err(Interrupted));
    assert_eq!(notify_all(shared.at(0)), 0);
});
