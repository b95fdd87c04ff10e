//! The event: a wakeup is neither lost nor doubled.

use std::pin::pin;
use std::sync::Arc;

use waitword::Event;

use super::{model, model_of_two, poll, queued, spawn};
use loom::sync::atomic::{AtomicUsize, Ordering};

model_of_two!(one_notify_is_enough_for_one_wait, |event: Arc<Event>| {
    let waiter = spawn(&event, Event::wait);
    event.notify_one();
    waiter.join().unwrap();
    assert!(!event.try_wait());
});

model_of_two!(two_notifies_wake_two_queued_waiters, |event: Arc<Event>| {
    let (mut one, mut two) = (queued(event.wait_async()), queued(event.wait_async()));
    let other = spawn(&event, Event::notify_one);
    event.notify_one();
    other.join().unwrap();
    assert!(poll(one.as_mut()).is_ready() && poll(two.as_mut()).is_ready());
    assert!(!event.try_wait());
});

// The race in the header of `event/raw.rs`: a waiter leaves, another enqueues, and no wakeup is lost.
model!(a_wakeup_is_neither_lost_nor_doubled_when_one_leaves_and_one_comes, |event: Arc<Event>| {
    let leaves = queued(event.wait_async());
    let comes = spawn(&event, Event::wait);
    let notifies = spawn(&event, Event::notify_one);
    drop(leaves);
    comes.join().unwrap();
    notifies.join().unwrap();
    assert!(!event.try_wait(), "one notify, one wakeup");
});

model_of_two!(a_dropped_wakeup_is_forwarded_to_the_next_waiter, |event: Arc<Event>| {
    let (one, mut two) = (queued(event.wait_async()), queued(event.wait_async()));
    let notifies = spawn(&event, Event::notify_one);
    drop(one);
    notifies.join().unwrap();
    assert!(poll(two.as_mut()).is_ready());
    assert!(!event.try_wait());
});

model_of_two!(a_dropped_wakeup_is_stored_if_the_queue_is_empty, |event: Arc<Event>| {
    let one = queued(event.wait_async());
    let notifies = spawn(&event, Event::notify_one);
    drop(one);
    notifies.join().unwrap();
    assert!(event.try_wait());
});

model_of_two!(two_notifies_of_one_waiter_leave_one_stored, |event: Arc<Event>| {
    let mut waits = queued(event.wait_async());
    let other = spawn(&event, Event::notify_one);
    event.notify_one();
    other.join().unwrap();
    assert!(poll(waits.as_mut()).is_ready());
    assert!(event.try_wait());
});

// Notified from the back, and forwarded from there: by waits that own a share in the event.
model_of_two!(a_dropped_wakeup_of_the_tail_is_forwarded_to_the_waiter_before_it, |event: Arc<Event>| {
    let waits = [(); 3].map(|()| queued(event.wait_owned_async()));
    let notifies = spawn(&event, |event| assert!(event.notify_last()));
    let [mut first, mut second, last] = waits;
    drop(last);
    notifies.join().unwrap();
    assert!(poll(second.as_mut()).is_ready() && poll(first.as_mut()).is_pending());
    assert!(!event.try_wait());
});

// One notify from the front, one from the back, and a waiter that comes: each wakeup is one waiter's, or stored.
model!(head_and_tail_are_woken_while_a_waiter_comes, |event: Arc<Event>| {
    let waits = queued(event.wait_owned_async());
    let from_front = spawn(&event, Event::notify_one);
    let from_back = spawn(&event, Event::notify_last);
    let mut comes = Box::pin(event.wait_owned_async());
    let _ = poll(comes.as_mut());
    let notified = [from_front.join().unwrap(), from_back.join().unwrap()];
    // The waiter that comes takes a stored wakeup before it enqueues. So both waiters have a wakeup.
    let woken = notified.iter().filter(|woken| **woken).count();
    assert!(woken >= 1, "{notified:?}");
    let mut waits = [waits, comes];
    let ready = waits.iter_mut().map(|wait| usize::from(wait.as_mut().enable())).sum::<usize>();
    assert_eq!((ready, event.try_wait()), (2, false));
});

// A waiter that comes meanwhile is woken too, or not; nothing is stored, and later waiters are not woken.
model_of_two!(notify_all_wakes_the_waiters_and_stores_nothing, |event: Arc<Event>| {
    let mut waits = queued(event.wait_async());
    let notifies = spawn(&event, Event::notify_all);
    let mut comes = Box::pin(event.wait_async());
    let early = poll(comes.as_mut()).is_ready();
    notifies.join().unwrap();
    assert!(poll(waits.as_mut()).is_ready());
    assert!(!event.try_wait());
    if !early && poll(comes.as_mut()).is_pending() {
        event.notify_one();
        assert!(poll(comes.as_mut()).is_ready());
    }
    assert!(!event.try_wait());
});

// A waiter that came after the new round began is not notified by its notify; dropped, it forwards nothing.
model_of_two!(a_waiter_that_is_dropped_forwards_nothing_of_notify_all, |event: Arc<Event>| {
    let waits = queued(event.wait_async());
    let comes = spawn(&event, |event| {
        let mut comes = Box::pin(event.wait_async());
        let _ = poll(comes.as_mut());
    });
    event.notify_all();
    comes.join().unwrap();
    drop(waits);
    assert!(!event.try_wait());
});

model_of_two!(notify_all_beside_notify_one_leaves_one_at_most, |event: Arc<Event>| {
    let (mut one, mut two) = (queued(event.wait_async()), queued(event.wait_async()));
    let notifies = spawn(&event, Event::notify_one);
    event.notify_all();
    notifies.join().unwrap();
    assert!(poll(one.as_mut()).is_ready() && poll(two.as_mut()).is_ready());
    let _ = event.try_wait();
    assert!(!event.try_wait());
});

// Also if the wakeup was stored by another notify before.
model_of_two!(what_was_done_before_a_notify_is_visible_to_the_woken_waiter, |shared: Arc<(
    Event,
    AtomicUsize
)>| {
    shared.0.notify_one();
    let notifies = spawn(&shared, |(event, written)| {
        written.store(1, Ordering::Relaxed);
        event.notify_one();
    });
    let (event, written) = &*shared;
    event.wait();
    if written.load(Ordering::Relaxed) == 0 {
        // Taken before it was stored again.
        event.wait();
        assert_eq!(written.load(Ordering::Relaxed), 1);
    }
    notifies.join().unwrap();
});

model_of_two!(what_was_done_before_notify_all_is_visible_to_the_woken_waiters, |shared: Arc<(
    Event,
    AtomicUsize
)>| {
    let (event, written) = &*shared;
    // It knows its round, and is not queued.
    let mut waits = Box::pin(event.wait_async());
    let notifies = spawn(&shared, |(event, written)| {
        written.store(1, Ordering::Relaxed);
        event.notify_all();
    });
    if poll(waits.as_mut()).is_ready() {
        assert_eq!(written.load(Ordering::Relaxed), 1);
    } else {
        notifies.join().unwrap();
        assert!(poll(waits.as_mut()).is_ready());
    }
});

// The race in the header of `event/listener.rs`, at its first wait and at the next.
model_of_two!(a_thread_that_listens_before_it_checks_misses_no_notify_all, |shared: Arc<(
    Event,
    AtomicUsize
)>| {
    let (event, written) = &*shared;
    let mut listener = pin!(event.listen());
    let notifies = spawn(&shared, |(event, written)| {
        for number in 1..=2 {
            written.store(number, Ordering::Relaxed);
            event.notify_all();
        }
    });
    for _ in 0..2 {
        if written.load(Ordering::Relaxed) < 2 {
            listener.as_mut().wait();
        }
    }
    assert_eq!(written.load(Ordering::Relaxed), 2);
    notifies.join().unwrap();
    assert!(!event.try_wait());
});

model_of_two!(a_queued_listener_gets_the_wakeup_or_leaves_it, |event: Arc<Event>| {
    let mut next = {
        let mut listener = pin!(event.listen());
        assert!(!listener.as_mut().enable());
        let next = queued(event.wait_async());
        let notifies = spawn(&event, Event::notify_one);
        let had = listener.try_wait();
        notifies.join().unwrap();
        if had {
            event.notify_one();
        }
        next
    };
    assert!(poll(next.as_mut()).is_ready());
    assert!(!event.try_wait());
});
