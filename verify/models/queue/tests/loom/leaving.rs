//! Waiters that leave the queue while it is notified: each is counted if and only if it was notified.

use std::pin::pin;

use waitword_core::*;

use super::{leave, model, poll, spawn};

// Notify and cancel take the same lock; the first decides for both.
model!(notified_if_and_only_if_counted, |shared| {
    let wait = shared.queued(0);
    let notifier = spawn(shared, |shared| notify_one(shared.at(0)));
    let was_notified = leave(wait);
    assert_eq!(was_notified, notifier.join().unwrap() == 1);
    assert_eq!(notify_all(shared.at(0)), 0);
});

// The head leaves while one waiter is notified: exactly one of the two gets the wakeup.
model!(a_head_that_leaves_and_the_waiter_behind_it, |shared| {
    let (first, mut second) = (shared.queued(0), shared.queued(0));
    let notifier = spawn(shared, |shared| notify_one(shared.at(0)));
    let first_had_it = leave(first);
    assert_eq!(notifier.join().unwrap(), 1);
    assert_eq!(poll(second.as_mut()).is_ready(), !first_had_it);
});

// The same at the other end of the queue.
model!(a_tail_that_leaves_and_the_waiter_before_it, |shared| {
    let (mut first, last) = (shared.queued(0), shared.queued(0));
    let notifier = spawn(shared, |shared| notify_last(shared.at(0)));
    let last_had_it = leave(last);
    assert_eq!(notifier.join().unwrap(), 1);
    assert_eq!(poll(first.as_mut()).is_ready(), !last_had_it);
});

// A waiter that comes while a notify is under way is counted by it or still waits, never both or neither.
model!(notify_all_takes_a_snapshot, |shared| {
    let mut early = shared.queued(0);
    let notifier = spawn(shared, |shared| notify_all(shared.at(0)));
    let mut late = shared.wait(0);
    let _ = poll(late.as_mut());
    let counted = notifier.join().unwrap();
    assert!(poll(early.as_mut()).is_ready());
    assert_eq!(leave(late), counted == 2);
});

// A notify of all, in several batches, while another waiter enqueues on the same word; then the last one leaves, which may
// be detached while the queue has a new head.
model!(leaving_while_detached_and_waiting_again, |shared| {
    let mut waits = Vec::from([(); 3].map(|()| shared.queued(0)));
    let notifier = spawn(shared, |shared| notify_all(shared.at(0)));
    let mut again = shared.wait(0);
    let _ = poll(again.as_mut());
    let last_had_it = leave(waits.pop().unwrap());
    let counted = notifier.join().unwrap();
    let again_had_it = leave(again);
    assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_ready()));
    assert_eq!(counted, 2 + usize::from(last_had_it) + usize::from(again_had_it));
});

// As above, and the last waiter is notified meanwhile; then one leaves that may be detached while the queue has a new tail.
model!(notify_last_beside_a_notify_of_all, |shared| {
    let mut waits = Vec::from([(); 3].map(|()| shared.queued(0)));
    let notifier = spawn(shared, |shared| notify_all(shared.at(0)));
    let mut again = shared.wait(0);
    let _ = poll(again.as_mut());
    let by_last = notify_last(shared.at(0));
    let left = leave(waits.pop().unwrap());
    let by_all = notifier.join().unwrap();
    assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_ready()));
    assert!(poll(again.as_mut()).is_ready(), "if the notify of all did not count it, it was the last");
    assert_eq!(by_all + by_last, 3 + usize::from(left));
});

// A pinned wait on the stack, polled once and dropped by the end of the scope.
model!(a_dropped_wait_and_a_notify, |shared| {
    let notifier = spawn(shared, |shared| notify_all(shared.at(0)));
    {
        let mut wait = pin!(wait_async(shared.at(0), 0));
        let _ = poll(wait.as_mut());
    }
    assert!(notifier.join().unwrap() <= 1);
    assert_eq!(notify_all(shared.at(0)), 0);
});

// The buckets grow while a wait on another word is notified and a third is cancelled.
model!(buckets_grow_under_waits, |shared| {
    let (mut first, second) = (shared.queued(0), shared.queued(1));
    let notifier = spawn(shared, |shared| notify_all(shared.at(0)));
    let _third = shared.queued(2);
    assert!(!leave(second));
    assert_eq!(notifier.join().unwrap(), 1);
    assert!(poll(first.as_mut()).is_ready());
    assert_eq!(notify_all(shared.at(2)), 1);
});
