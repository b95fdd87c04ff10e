//! The event from outside: the whole grid of names, which waiter is woken, and what becomes of a wakeup that no waiter takes.

#[path = "../common/mod.rs"]
mod common;
mod listener;
mod notified;
mod owned;
mod schedules;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::Context;
use std::thread;
use std::time::Duration;

use common::exclusive::Panics;
use common::grid::{self, Call, Got, Grid, got, way, ways};
use common::{Task, block_on, waits};
use waitword::*;

macro_rules! listens {
    ($listen:ident => $instead:literal) => {
        [
            way!(Event: try_wait, false, Attempt(|event, _| pin!(event.$listen()).try_wait().ended(event))),
            way!(Event: wait, false, Thread(|event, _| pin!(event.$listen()).wait().ended(event), $instead)),
            way!(
                Event: wait_for, true, Thread(|event, time| pin!(event.$listen()).wait_for(time).ended(event), "")
            ),
            way!(Event: wait_until, true, Thread(
                |event, time| pin!(event.$listen()).wait_until(grid::at(time)).ended(event), ""
            )),
        ]
    };
}

fn event() -> Grid<Event> {
    let mut ways: Vec<_> = ways! { Event:
        attempts [try_wait];
        blocks [wait, wait_for, wait_until => wait_async];
        awaits [wait_async];
        awaits [wait_owned_async];
    };
    ways.extend(listens!(listen => "Event::wait_async"));
    ways.extend(listens!(listen_owned => "Event::wait_owned_async"));
    Grid {
        ways,
        open: || {
            let event = Event::new();
            event.notify_one();
            Arc::new(event)
        },
        stays_open: |_| false,
        closed: Arc::default,
        close: |event| {
            Box::new(|| {
                event.notify_one();
            })
        },
        waiters: Event::waiters,
    }
}

got!(Event: () => |_event, _got| true);

mod the_grid {
    crate::common::grid::the_whole_grid!(event);
}

#[test]
fn every_way_to_wait_is_woken_by_every_notify() {
    for way in event().ways.iter().filter(|way| !matches!(way.call, Call::Attempt(_))) {
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
fn a_waker_that_panics_costs_no_other_waiter_its_wakeup() {
    let event = Event::new();
    let panics = Panics::waker();
    let mut first = pin!(event.wait_async());
    assert!(first.as_mut().poll(&mut Context::from_waker(&panics)).is_pending());
    let mut second = Task::queued(event.wait_async());
    assert_eq!(event.notify_all(), 2);
    assert!(second.is_woken() && second.poll().is_ready());
    assert!(first.as_mut().poll(&mut Context::from_waker(&panics)).is_ready());
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
