//! What an event says of a notify, which waiter `notify_last` wakes, and what `enable` says of a wait that has ended.

use std::cell::RefCell;
use std::future::{Future as _, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use waitword::*;

use crate::common::law::Held;
use crate::common::{Task, block_on, far, until, waits};
use crate::rows;

/// What a notify says.
const WOKEN: bool = true;
const STORED: bool = false;

#[test]
fn a_notify_says_what_became_of_its_wakeup() {
    for notify in [Event::notify_one, Event::notify_last] {
        let event = Event::new();
        assert_eq!([notify(&event), notify(&event), notify(&event)], [STORED; 3]);
        let mut task = Task::new(event.wait_async());
        assert!(task.poll().is_ready(), "it takes what is stored, ...");
        // ... and the next does not.
        let mut task = Task::queued(event.wait_async());
        assert_eq!([notify(&event), notify(&event)], [WOKEN, STORED]);
        assert!(task.is_woken() && task.poll().is_ready());
        event.notify_all();
        assert_eq!(notify(&event), STORED, "`notify_all` takes nothing away");
    }
}

/// The word still says that there may be a waiter, and there is none.
#[test]
fn a_notify_after_all_have_left_is_stored() {
    for notify in [Event::notify_one, Event::notify_last] {
        let event = Event::new();
        drop(Task::queued(event.wait_async()));
        assert_eq!((event.waiters(), notify(&event)), (0, STORED));
    }
}

#[test]
fn notify_all_says_how_many_were_in_the_queue() {
    let event = Event::new();
    assert_eq!(event.notify_all(), 0);
    let mut unpolled = Task::new(event.wait_async());
    let mut queued = [(); 40].map(|()| Task::queued(event.wait_async()));
    assert_eq!(event.notify_all(), 40);
    assert_eq!(event.notify_all(), 0);
    assert!(queued.iter_mut().all(|task| task.poll().is_ready()) && unpolled.poll().is_ready());
}

/// Threads and tasks, in every mixture.
#[test]
fn notify_one_wakes_the_head_and_notify_last_the_tail() {
    type Notify = fn(&Event) -> bool;
    let (one, last): (Notify, Notify) = (Event::notify_one, Event::notify_last);
    let orders = [([one; 4], [0, 1, 2, 3]), ([last, one, last, last], [3, 0, 2, 1])];
    for (kinds, (notifies, order)) in (0..1_u32 << 4).flat_map(|kinds| orders.map(|order| (kinds, order))) {
        let event = Event::new();
        let turns = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for place in 0..4 {
                let (event, turns) = (&event, &turns);
                let wait = move || {
                    if kinds >> place & 1 == 1 {
                        event.wait()
                    } else {
                        block_on(event.wait_async())
                    }
                    turns.lock().push(place);
                };
                waits(scope, || event.waiters() == place + 1, wait);
            }
            for (count, notify) in (1..).zip(notifies) {
                assert_eq!(notify(&event), WOKEN);
                until(|| turns.lock().len() == count);
            }
        });
        assert_eq!(turns.into_inner(), order, "{kinds:b}");
    }
}

/// In the order of the notify that gave it, however often it is forwarded, and whether the future knew of it or not.
#[test]
fn a_wakeup_that_is_dropped_is_forwarded_in_the_order_in_which_it_came() {
    let row = rows::event();
    for way in row.tasks() {
        for (notify, order) in
            [(Event::notify_one as fn(&Event) -> _, [0, 1, 2, 3]), (Event::notify_last, [3, 2, 1, 0])]
        {
            let event = Arc::new(Event::new());
            let mut tasks = [(); 4].map(|()| Some(way.queued(&event)));
            let is_woken = |tasks: &[Option<Task<'_, Held<'_>>>; 4]| {
                tasks.each_ref().map(|task| task.as_ref().is_some_and(Task::is_woken))
            };
            assert_eq!(notify(&event), WOKEN);
            for place in order {
                assert_eq!(is_woken(&tasks), [0, 1, 2, 3].map(|other| other == place));
                tasks[place] = None;
            }
            assert!(event.try_wait(), "stored in the end");
        }
    }
    // Enabled, it knows of the wakeup and keeps it.
    let event = Event::new();
    let mut first = pin!(event.wait_async());
    assert!(!first.as_mut().enable());
    let second = Task::queued(event.wait_async());
    {
        let mut last = pin!(event.wait_async());
        assert!(!last.as_mut().enable());
        assert_eq!(event.notify_last(), WOKEN);
        assert!(last.enable());
    }
    assert!(second.is_woken() && !first.enable());
}

/// It came before, and for one; the next waiter was not there for the `notify_all`.
#[test]
fn a_wakeup_is_forwarded_also_after_a_notify_all() {
    type Notify = fn(&Event) -> bool;
    let waiting = |event: &Event, notify: Notify| {
        let mut dropped = Box::pin(event.wait_async());
        assert!(!dropped.as_mut().enable());
        assert_eq!(notify(event), WOKEN);
        event.notify_all();
        let mut next = Task::queued(event.wait_async());
        drop(dropped);
        assert!(next.is_woken() && next.poll().is_ready());
    };
    waiting(&Event::new(), Event::notify_one);
    waiting(&Event::new(), Event::notify_last);
    // One that was stored.
    let event = Event::new();
    event.notify_one();
    let mut dropped = Box::pin(event.wait_async());
    assert!(dropped.as_mut().enable());
    event.notify_all();
    drop(dropped);
    assert!(event.try_wait());
    // But that of a notify of all, which all have, is not.
    let mut dropped = Box::pin(event.wait_async());
    assert!(!dropped.as_mut().enable());
    event.notify_all();
    let next = Task::queued(event.wait_async());
    drop(dropped);
    assert!(!next.is_woken());
}

/// It wakes the task that polled it last.
#[test]
fn enable_after_a_poll_keeps_the_waker() {
    let event = Arc::new(Event::new());
    let plain = RefCell::new(Box::pin(event.wait_async()));
    let timed = RefCell::new(Box::pin(event.wait_owned_async().deadline(far())));
    let mut tasks = (
        Task::queued(poll_fn(|cx| plain.borrow_mut().as_mut().poll(cx))),
        Task::queued(poll_fn(|cx| timed.borrow_mut().as_mut().poll(cx))),
    );
    assert!(!plain.borrow_mut().as_mut().enable() && !timed.borrow_mut().as_mut().enable());
    event.notify_all();
    assert!(tasks.0.is_woken() && tasks.1.is_woken());
    assert!(plain.borrow_mut().as_mut().enable() && timed.borrow_mut().as_mut().enable());
    assert!(tasks.0.poll().is_ready() && tasks.1.poll().is_ready());
}

#[test]
fn enable_after_the_end_says_that_nothing_is_left_to_wait_for() {
    let event = Arc::new(Event::new());
    let (mut plain, mut owned) = (pin!(event.wait_async()), pin!(event.wait_owned_async()));
    let (mut timed, mut owned_timed) =
        (pin!(event.wait_async().deadline(far())), pin!(event.wait_owned_async().deadline(far())));
    event.notify_all();
    block_on(async {
        plain.as_mut().await;
        owned.as_mut().await;
        timed.as_mut().await.unwrap();
        owned_timed.as_mut().await.unwrap();
    });
    for _ in 0..2 {
        assert!(plain.as_mut().enable() && owned.as_mut().enable());
        assert!(timed.as_mut().enable() && owned_timed.as_mut().enable());
    }
    let (mut late, mut owned_late) = (
        pin!(event.wait_async().timeout(Duration::ZERO)),
        pin!(event.wait_owned_async().deadline(Instant::now())),
    );
    assert_eq!(block_on(late.as_mut()), Err(LockError::TimedOut));
    assert_eq!(block_on(owned_late.as_mut()), Err(LockError::TimedOut));
    assert!(late.enable() && owned_late.enable(), "over, too");
    // It has not enqueued, and takes nothing.
    assert_eq!((event.waiters(), event.notify_one()), (0, STORED));
    assert!(plain.as_mut().enable() && event.try_wait());
}

/// Nor does it forward anything when it is dropped: what it had was taken.
#[test]
fn enable_after_the_end_has_nothing_to_forward() {
    let event = Arc::new(Event::new());
    let enabled: [fn(&Arc<Event>) -> bool; 2] = [
        |event| {
            let mut wait = pin!(event.wait_async());
            block_on(wait.as_mut());
            wait.enable()
        },
        |event| {
            let mut wait = pin!(event.wait_owned_async());
            block_on(wait.as_mut());
            wait.enable()
        },
    ];
    for enabled in enabled {
        event.notify_one();
        assert!(enabled(&event));
        assert!(!event.try_wait());
    }
}

/// A listener never ends: after each of its waits it listens again, and `enable` enqueues it again.
#[test]
fn enable_of_a_listener_after_a_wait_is_for_the_next() {
    let event = Arc::new(Event::new());
    let (mut borrowed, mut owned) = (pin!(event.listen()), pin!(event.listen_owned()));
    for _ in 0..3 {
        event.notify_all();
        borrowed.as_mut().wait();
        owned.as_mut().wait();
        assert!(!borrowed.as_mut().enable() && !owned.as_mut().enable());
        assert_eq!(event.waiters(), 2);
    }
    event.notify_last();
    assert!(owned.as_mut().try_wait() && !borrowed.as_mut().try_wait());
}
