//! The event: a wakeup is neither lost nor doubled.

use std::pin::pin;
use std::sync::Arc;

use waitword::{Event, EventNotified};

use super::checker::sync::atomic::{AtomicUsize, Ordering};
use super::{in_line, model, model_of_two, poll, spawn};

#[test]
fn one_notify_is_enough_for_one_wait() {
    model_of_two(|| {
        let event = Arc::new(Event::new());
        let waiter = spawn(&event, Event::wait);
        event.notify_one();
        waiter.join().unwrap();
        assert!(!event.try_wait());
    });
}

#[test]
fn two_notifies_wake_two_that_are_in_line() {
    model_of_two(|| {
        let event = Arc::new(Event::new());
        let (mut one, mut two) = (in_line(event.wait_async()), in_line(event.wait_async()));
        let other = spawn(&event, Event::notify_one);
        event.notify_one();
        other.join().unwrap();
        assert!(poll(one.as_mut()).is_ready() && poll(two.as_mut()).is_ready());
        assert!(!event.try_wait());
    });
}

/// The race in the header of `event/raw.rs`: one leaves, another comes, and nothing is lost on either.
#[test]
fn a_wakeup_is_neither_lost_nor_doubled_between_one_who_leaves_and_one_who_comes() {
    model(|| {
        let event = Arc::new(Event::new());
        let leaves = in_line(event.wait_async());
        let comes = spawn(&event, Event::wait);
        let notifies = spawn(&event, Event::notify_one);
        drop(leaves);
        comes.join().unwrap();
        notifies.join().unwrap();
        assert!(!event.try_wait(), "one notify, one wakeup");
    });
}

#[test]
fn a_wakeup_that_is_dropped_goes_to_the_next_in_line() {
    model_of_two(|| {
        let event = Arc::new(Event::new());
        let (one, mut two) = (in_line(event.wait_async()), in_line(event.wait_async()));
        let notifies = spawn(&event, Event::notify_one);
        drop(one);
        notifies.join().unwrap();
        assert!(poll(two.as_mut()).is_ready());
        assert!(!event.try_wait());
    });
}

#[test]
fn a_wakeup_that_is_dropped_is_stored_if_nobody_is_in_line() {
    model_of_two(|| {
        let event = Arc::new(Event::new());
        let one = in_line(event.wait_async());
        let notifies = spawn(&event, Event::notify_one);
        drop(one);
        notifies.join().unwrap();
        assert!(event.try_wait());
    });
}

#[test]
fn two_notifies_beside_one_who_waits_leave_one_stored() {
    model_of_two(|| {
        let event = Arc::new(Event::new());
        let mut waits = in_line(event.wait_async());
        let other = spawn(&event, Event::notify_one);
        event.notify_one();
        other.join().unwrap();
        assert!(poll(waits.as_mut()).is_ready());
        assert!(event.try_wait());
    });
}

/// From the back, and forwarded from there: by waits that have a share in the event.
#[test]
fn a_wakeup_of_the_last_that_is_dropped_goes_to_the_one_before() {
    model_of_two(|| {
        let event = Arc::new(Event::new());
        let waits = [(); 3].map(|()| in_line(event.wait_owned_async()));
        let notifies = spawn(&event, |event| assert!(event.notify_last().is_woken()));
        let [mut first, mut second, last] = waits;
        drop(last);
        notifies.join().unwrap();
        assert!(poll(second.as_mut()).is_ready() && poll(first.as_mut()).is_pending());
        assert!(!event.try_wait());
    });
}

/// One from the front and one from the back, and one that comes: two wakeups, each for one of them, or stored.
#[test]
fn the_first_and_the_last_are_woken_beside_one_who_comes() {
    model(|| {
        let event = Arc::new(Event::new());
        let waits = in_line(event.wait_owned_async());
        let from_front = spawn(&event, Event::notify_one);
        let from_back = spawn(&event, Event::notify_last);
        let mut comes = Box::pin(event.wait_owned_async());
        let _ = poll(comes.as_mut());
        let notified = [from_front.join().unwrap(), from_back.join().unwrap()];
        // What is stored, whoever comes takes before it is queued. So both have theirs, or had it given.
        let woken = notified.iter().filter(|notified| notified.is_woken()).count();
        assert!(woken >= 1 && !notified.contains(&EventNotified::AlreadyStored), "{notified:?}");
        let mut waits = [waits, comes];
        let ready = waits.iter_mut().map(|wait| usize::from(wait.as_mut().enable())).sum::<usize>();
        assert_eq!((ready, event.try_wait()), (2, false));
    });
}

/// Who comes while all are woken is woken too, or not; but nothing is stored, and nobody who came later is touched.
#[test]
fn notify_all_wakes_who_waits_and_stores_nothing() {
    model_of_two(|| {
        let event = Arc::new(Event::new());
        let mut waits = in_line(event.wait_async());
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
}

/// One who came after the new round is not called by the notify that began it; dropped, it has nothing to pass on.
#[test]
fn notify_all_leaves_no_wakeup_behind_with_one_who_is_dropped() {
    model_of_two(|| {
        let event = Arc::new(Event::new());
        let waits = in_line(event.wait_async());
        let comes = spawn(&event, |event| {
            let mut comes = Box::pin(event.wait_async());
            let _ = poll(comes.as_mut());
        });
        event.notify_all();
        comes.join().unwrap();
        drop(waits);
        assert!(!event.try_wait());
    });
}

#[test]
fn notify_all_beside_notify_one_leaves_one_at_most() {
    model_of_two(|| {
        let event = Arc::new(Event::new());
        let (mut one, mut two) = (in_line(event.wait_async()), in_line(event.wait_async()));
        let notifies = spawn(&event, Event::notify_one);
        event.notify_all();
        notifies.join().unwrap();
        assert!(poll(one.as_mut()).is_ready() && poll(two.as_mut()).is_ready());
        let _ = event.try_wait();
        assert!(!event.try_wait());
    });
}

/// Also if the wakeup was stored by somebody else before.
#[test]
fn what_was_done_before_a_notify_is_seen_by_who_takes_the_wakeup() {
    model_of_two(|| {
        let shared = Arc::new((Event::new(), AtomicUsize::new(0)));
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
}

#[test]
fn what_was_done_before_a_notify_of_all_is_seen_by_those_who_go_on() {
    model_of_two(|| {
        let shared = Arc::new((Event::new(), AtomicUsize::new(0)));
        let (event, written) = &*shared;
        // It knows its round, and is not in line.
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
}

/// The race in the header of `event/listener.rs`, at its first wait and at the next.
#[test]
fn a_thread_that_listens_before_it_looks_misses_no_notify_of_all() {
    model_of_two(|| {
        let shared = Arc::new((Event::new(), AtomicUsize::new(0)));
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
}

#[test]
fn a_listener_in_line_gets_the_wakeup_or_leaves_it() {
    model_of_two(|| {
        let event = Arc::new(Event::new());
        let mut next = {
            let mut listener = pin!(event.listen());
            assert!(!listener.as_mut().enable());
            let next = in_line(event.wait_async());
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
}
