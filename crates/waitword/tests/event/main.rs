//! The event from outside: the whole grid of names, which waiter is woken, and what becomes of a wakeup that no waiter takes.

#[path = "../common/mod.rs"]
mod common;
mod listener;
mod notified;
mod owned;
mod schedules;

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use common::{Task, block_on, far, forbidden, until, waits};
use waitword::*;

type Way = (&'static str, fn(&Arc<Event>) -> bool);

/// Every way to wait that has time.
const WAYS: [Way; 15] = [
    ("wait", |event| {
        event.wait();
        true
    }),
    ("wait_for", |event| event.wait_for(Duration::MAX).is_ok()),
    ("wait_until", |event| event.wait_until(far()).is_ok()),
    ("wait_async", |event| {
        block_on(event.wait_async());
        true
    }),
    ("wait_async_for", |event| block_on(event.wait_async_for(Duration::MAX)).is_ok()),
    ("wait_async_until", |event| block_on(event.wait_async_until(far())).is_ok()),
    ("listen, wait", |event| {
        pin!(event.listen()).wait();
        true
    }),
    ("listen, wait_for", |event| pin!(event.listen()).wait_for(Duration::MAX).is_ok()),
    ("listen, wait_until", |event| pin!(event.listen()).wait_until(far()).is_ok()),
    ("wait_owned_async", |event| {
        block_on(event.wait_owned_async());
        true
    }),
    ("wait_owned_async_for", |event| block_on(event.wait_owned_async_for(Duration::MAX)).is_ok()),
    ("wait_owned_async_until", |event| block_on(event.wait_owned_async_until(far())).is_ok()),
    ("listen_owned, wait", |event| {
        pin!(event.listen_owned()).wait();
        true
    }),
    ("listen_owned, wait_for", |event| pin!(event.listen_owned()).wait_for(Duration::MAX).is_ok()),
    ("listen_owned, wait_until", |event| pin!(event.listen_owned()).wait_until(far()).is_ok()),
];

/// Those that have none.
const WAYS_WITHOUT_TIME: [Way; 13] = [
    ("try_wait", |event| event.try_wait()),
    ("wait_owned_async_for", |event| block_on(event.wait_owned_async_for(Duration::ZERO)).is_ok()),
    ("wait_owned_async_until", |event| block_on(event.wait_owned_async_until(Instant::now())).is_ok()),
    ("listen_owned, try_wait", |event| pin!(event.listen_owned()).try_wait()),
    ("listen_owned, wait_for", |event| pin!(event.listen_owned()).wait_for(Duration::ZERO).is_ok()),
    ("listen_owned, wait_until", |event| pin!(event.listen_owned()).wait_until(Instant::now()).is_ok()),
    ("wait_for", |event| event.wait_for(Duration::ZERO).is_ok()),
    ("wait_until", |event| event.wait_until(Instant::now()).is_ok()),
    ("wait_async_for", |event| block_on(event.wait_async_for(Duration::ZERO)).is_ok()),
    ("wait_async_until", |event| block_on(event.wait_async_until(Instant::now())).is_ok()),
    ("listen, try_wait", |event| pin!(event.listen()).try_wait()),
    ("listen, wait_for", |event| pin!(event.listen()).wait_for(Duration::ZERO).is_ok()),
    ("listen, wait_until", |event| pin!(event.listen()).wait_until(Instant::now()).is_ok()),
];

#[test]
fn every_way_to_wait_takes_what_is_stored_at_once() {
    let _nobody_may_wait = forbid_blocking();
    let event = Arc::new(Event::new());
    for (way, wait) in WAYS.into_iter().chain(WAYS_WITHOUT_TIME) {
        event.notify_one();
        assert!(wait(&event), "{way}");
        assert!(!event.try_wait(), "{way}");
    }
    for (way, wait) in WAYS_WITHOUT_TIME {
        assert!(!wait(&event), "{way}");
    }
}

#[test]
fn every_way_to_wait_is_woken_by_every_notify() {
    let event = Arc::new(Event::new());
    for (way, wait) in WAYS {
        let notifies: [fn(&Event) -> bool; 3] = [
            |event| event.notify_one().is_woken(),
            |event| event.notify_last().is_woken(),
            |event| event.notify_all() == 1,
        ];
        for notify in notifies {
            thread::scope(|scope| {
                let waiter = waits(scope, || event.waiters() == 1, || wait(&event));
                assert!(notify(&event), "{way}");
                assert!(waiter.join().unwrap(), "{way}");
            });
            assert!(!event.try_wait(), "{way}");
        }
    }
}

#[test]
fn threads_and_tasks_share_one_queue() {
    for kinds in 0..1_u32 << 4 {
        let event = Event::new();
        let turns = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for place in 0..4 {
                let (event, turns) = (&event, &turns);
                let is_queued = move || event.waiters() == place + 1;
                waits(scope, is_queued, move || {
                    if kinds >> place & 1 == 1 {
                        event.wait()
                    } else {
                        block_on(event.wait_async())
                    }
                    turns.lock().unwrap().push(place);
                });
            }
            for place in 0..4 {
                event.notify_one();
                until(|| turns.lock().unwrap().len() == place + 1);
            }
        });
        assert_eq!(turns.into_inner().unwrap(), [0, 1, 2, 3], "{kinds:b}");
    }
}

#[test]
fn notify_all_wakes_threads_and_tasks_and_stores_nothing() {
    let event = Arc::new(Event::new());
    let unpolled = event.wait_async();
    let unpolled_in_time = event.wait_async_for(Duration::MAX);
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
fn timed_forms_give_up_and_never_too_early() {
    let event = Arc::new(Event::new());
    for timeout in [0, 1, 3, 15].map(Duration::from_millis) {
        let start = Instant::now();
        assert_eq!(event.wait_for(timeout), Err(LockError::TIMED_OUT));
        assert_eq!(event.wait_until(start + timeout), Err(LockError::TIMED_OUT));
        assert!(start.elapsed() >= timeout);
        let start = Instant::now();
        assert_eq!(block_on(event.wait_async_for(timeout)), Err(LockError::TIMED_OUT));
        assert_eq!(block_on(event.wait_async_until(start + timeout)), Err(LockError::TIMED_OUT));
        assert!(start.elapsed() >= timeout);
        let start = Instant::now();
        assert_eq!(block_on(event.wait_owned_async_for(timeout)), Err(LockError::TIMED_OUT));
        assert_eq!(block_on(event.wait_owned_async_until(start + timeout)), Err(LockError::TIMED_OUT));
        assert!(start.elapsed() >= timeout);
    }
    assert_eq!(event.waiters(), 0);
    event.notify_one();
    assert!(event.try_wait(), "a wait that has given up gets nothing");
}

#[test]
fn a_wakeup_that_came_before_the_poll_is_had_though_the_time_is_up() {
    let event = Event::new();
    let deadline = Instant::now() + Duration::from_millis(20);
    let mut task = Task::new(event.wait_async_until(deadline));
    if task.poll().is_pending() {
        event.notify_one();
        until(|| Instant::now() > deadline);
        assert_eq!(task.poll(), Poll::Ready(Ok(())));
        assert!(!event.try_wait());
    }
}

#[test]
fn forbidden_to_block() {
    let event = Arc::new(Event::new());
    let message = forbidden(|| event.wait());
    assert!(message.contains("`wait_async`"), "{message}");
    let message = forbidden(|| pin!(event.listen()).wait());
    assert!(message.contains("`Event::wait_async`"), "{message}");
    let message = forbidden(|| pin!(event.listen_owned()).wait());
    assert!(message.contains("`Event::wait_owned_async`"), "{message}");
    let _must_not = forbid_blocking();
    assert_eq!(event.wait_for(Duration::from_secs(1)), Err(LockError::BlockingForbidden));
    assert_eq!(event.wait_until(far()), Err(LockError::BlockingForbidden));
    assert_eq!(event.wait_for(Duration::ZERO), Err(LockError::TIMED_OUT), "that would not have waited");
    event.notify_one();
    event.wait();
    assert_eq!(event.waiters(), 0);
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
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("woken");
        }
    }
    let event = Event::new();
    let panics = Waker::from(Arc::new(Panics));
    let mut first = pin!(event.wait_async());
    assert!(first.as_mut().poll(&mut Context::from_waker(&panics)).is_pending());
    let mut second = Task::new(event.wait_async());
    assert!(second.poll().is_pending());
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
        format!("{:?}", event.wait_async_for(Duration::ZERO)),
        "EventWaitUntil { waiting: false, .. }"
    );
    assert_eq!(format!("{:?}", event.listen()), "EventListener { waiting: false, .. }");
    assert_eq!(format!("{:?}", event.wait_owned_async()), "EventWaitOwned { waiting: false, .. }");
    let owned_until = event.wait_owned_async_for(Duration::ZERO);
    assert_eq!(format!("{owned_until:?}"), "EventWaitOwnedUntil { waiting: false, .. }");
    assert_eq!(format!("{:?}", event.listen_owned()), "OwnedEventListener { waiting: false, .. }");
}
