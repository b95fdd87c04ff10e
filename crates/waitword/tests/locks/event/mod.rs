//! The event: which waiter is woken, and what becomes of a wakeup that no waiter takes.

mod listener;
mod notified;
mod owned;
mod schedules;

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use waitword::*;

use crate::common::{Task, block_on, waits};
use crate::rows;

#[test]
fn every_way_to_wait_is_woken_by_every_notify() {
    for way in rows::event().ways.iter().filter(|way| way.waits()) {
        let event = Arc::new(Event::new());
        let notifies: [fn(&Event) -> bool; 3] =
            [|event| event.notify_one(), |event| event.notify_last(), |event| event.notify_all() == 1];
        for notify in notifies {
            thread::scope(|scope| {
                let waiter = waits(scope, || event.waiters() == 1, || way.run(&event, Duration::MAX).is_ok());
                assert!(notify(&event), "{}", way.name);
                assert!(waiter.join().unwrap(), "{}", way.name);
            });
            assert!(!event.try_wait(), "{}", way.name);
        }
    }
}

#[test]
fn notify_all_wakes_threads_and_tasks_and_stores_nothing() {
    let event = Arc::new(Event::new());
    let unpolled = event.wait_async();
    let unpolled_in_time = event.wait_async().timeout(Duration::MAX);
    let unpolled_owned = event.wait_owned_async();
    thread::scope(|scope| {
        for count in 0..4 {
            let event = &event;
            let is_queued = move || event.waiters() == count + 1;
            waits(
                scope,
                is_queued,
                move || if count % 2 == 0 { event.wait() } else { block_on(event.wait_async()) },
            );
        }
        assert_eq!(event.notify_all(), 4, "those in the queue");
    });
    assert!(Task::new(unpolled).poll().is_ready(), "made before");
    assert!(Task::new(unpolled_owned).poll().is_ready(), "made before");
    assert!(Task::new(unpolled_in_time).poll().is_ready(), "made before");
    assert!(Task::new(event.wait_async()).poll().is_pending(), "made after");
    assert!(!event.try_wait());
}

#[test]
fn notify_all_keeps_what_is_stored() {
    let event = Event::new();
    event.notify_one();
    event.notify_all();
    assert!(event.try_wait());
}

#[test]
fn a_future_of_an_earlier_round_leaves_a_stored_wakeup_to_others() {
    let event = Event::new();
    let early = event.wait_async();
    event.notify_all();
    event.notify_one();
    assert!(Task::new(early).poll().is_ready());
    assert!(event.try_wait());
}

#[test]
#[should_panic(expected = "after it had ended")]
fn a_future_that_was_ready_must_not_be_polled() {
    let event = Event::new();
    event.notify_one();
    let mut task = Task::new(event.wait_async());
    assert!(task.poll().is_ready());
    let _ = task.poll();
}

#[test]
fn debug_shows_the_state_and_never_waits() {
    let event = Arc::<Event>::default();
    assert_eq!(format!("{event:?}"), "Event { stored: false, .. }");
    event.notify_one();
    assert_eq!(format!("{event:?}"), "Event { stored: true, .. }");
    assert_eq!(format!("{:?}", event.wait_async()), "EventWait { waiting: false, .. }");
    assert_eq!(
        format!("{:?}", event.wait_async().timeout(Duration::ZERO)),
        "EventWait { waiting: false, .. }"
    );
    assert_eq!(format!("{:?}", event.listen()), "EventListener { waiting: false, .. }");
    assert_eq!(format!("{:?}", event.wait_owned_async()), "EventWait { waiting: false, .. }");
    let owned_until = event.wait_owned_async().timeout(Duration::ZERO);
    assert_eq!(format!("{owned_until:?}"), "EventWait { waiting: false, .. }");
    assert_eq!(format!("{:?}", event.listen_owned()), "OwnedEventListener { waiting: false, .. }");
}
