//! The event from outside: the whole grid of names, which waiter is woken, and what becomes of a wakeup that no waiter takes.

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use common::{NotUnpin, Task, block_on, far, forbidden, until, waits};
use waitword::future::*;
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
        assert_eq!(event.wait_for(timeout), Err(LockError::TimedOut));
        assert_eq!(event.wait_until(start + timeout), Err(LockError::TimedOut));
        assert!(start.elapsed() >= timeout);
        let start = Instant::now();
        assert_eq!(block_on(event.wait_async_for(timeout)), Err(LockError::TimedOut));
        assert_eq!(block_on(event.wait_async_until(start + timeout)), Err(LockError::TimedOut));
        assert!(start.elapsed() >= timeout);
        let start = Instant::now();
        assert_eq!(block_on(event.wait_owned_async_for(timeout)), Err(LockError::TimedOut));
        assert_eq!(block_on(event.wait_owned_async_until(start + timeout)), Err(LockError::TimedOut));
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
    assert_eq!(event.wait_for(Duration::ZERO), Err(LockError::TimedOut), "that would not have waited");
    event.notify_one();
    event.wait();
    assert_eq!(event.waiters(), 0);
}

#[test]
fn enable_enqueues_and_a_later_drop_forwards() {
    let event = Event::new();
    {
        let (mut one, mut two) = (pin!(event.wait_async()), pin!(event.wait_async_for(Duration::MAX)));
        assert!(!one.as_mut().enable() && !two.as_mut().enable());
        assert_eq!(event.waiters(), 2);
        event.notify_one();
        event.notify_one();
        assert!(one.as_mut().enable() && one.as_mut().enable(), "asked twice, it is so twice");
        assert!(two.as_mut().enable());
        assert!(!event.try_wait(), "both have theirs");
        block_on(one.as_mut());
    }
    assert!(event.try_wait(), "the second was dropped");
    let mut stored = Box::pin(event.wait_async());
    event.notify_one();
    assert!(stored.as_mut().enable());
    assert!(!event.try_wait());
    drop(stored);
    assert!(event.try_wait());
}

/// The loop that a thread could not have without one: notified between its check and its wait, each time.
#[test]
fn a_listener_misses_no_notify_all_between_its_waits() {
    let (event, number) = (Event::new(), AtomicUsize::new(0));
    let mut listener = pin!(event.listen());
    let mut seen = 0;
    while seen < 5 {
        // After the check, and before the wait.
        number.store(seen + 1, Ordering::Relaxed);
        event.notify_all();
        assert_eq!(listener.as_mut().wait_until(far()), Ok(()));
        seen = number.load(Ordering::Relaxed);
    }
    assert!(!listener.as_mut().try_wait(), "each once");
    event.notify_all();
    assert!(listener.as_mut().try_wait() && !listener.try_wait());
}

#[test]
fn a_listener_keeps_its_position_when_its_time_is_up() {
    let event = Event::new();
    let mut listener = pin!(event.listen());
    let start = Instant::now();
    assert_eq!(listener.as_mut().wait_for(Duration::from_millis(5)), Err(LockError::TimedOut));
    assert!(start.elapsed() >= Duration::from_millis(5));
    let mut second = Task::new(event.wait_async());
    assert!(second.poll().is_pending());
    {
        let _must_not = forbid_blocking();
        let refused = listener.as_mut().wait_until(far());
        assert_eq!(refused, Err(LockError::BlockingForbidden));
    }
    assert_eq!(event.waiters(), 2);
    event.notify_one();
    assert!(!second.is_woken(), "behind it");
    listener.as_mut().wait();
    assert_eq!(event.waiters(), 1, "it listens, and is not queued");
    event.notify_one();
    assert!(second.poll().is_ready() && !listener.try_wait());
}

#[test]
fn a_listener_that_is_dropped_forwards_its_wakeup() {
    let event = Event::new();
    for ends in 0..3 {
        let mut next = Task::new(event.wait_async());
        {
            let mut listener = pin!(event.listen());
            match ends {
                0 => assert!(!listener.as_mut().enable()),
                1 => assert!(!listener.as_mut().try_wait()),
                _ => assert!(listener.as_mut().wait_for(Duration::ZERO).is_err()),
            }
            assert!(next.poll().is_pending());
            event.notify_one();
            assert!(listener.as_mut().enable() && listener.enable(), "asked twice, it is so twice");
            assert!(!next.is_woken());
        }
        assert!(next.poll().is_ready());
    }
    drop(event.listen());
    assert_eq!(event.waiters(), 0);
    assert!(!event.try_wait());
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
    assert!(catch_unwind(AssertUnwindSafe(|| event.notify_all())).is_err());
    assert!(second.is_woken() && second.poll().is_ready());
    assert!(first.as_mut().poll(&mut Context::from_waker(&panics)).is_ready());
}

/// Consumers that are threads, tasks, and tasks which give up again and again, and drop what they may have been given.
#[test]
fn messages_beside_an_event_are_all_consumed() {
    const MESSAGES: usize = 2_000;
    struct Mailbox {
        messages: Mutex<Vec<usize>>,
        arrived: Event,
        consumed: Mutex<Vec<usize>>,
    }
    impl Mailbox {
        /// Takes all there is. `false` when the last has been consumed, which is passed on to the next consumer.
        fn consume(&self) -> bool {
            while let Some(message) = { self.messages.lock().unwrap().pop() } {
                self.consumed.lock().unwrap().push(message);
            }
            let goes_on = self.consumed.lock().unwrap().len() < MESSAGES;
            if !goes_on {
                self.arrived.notify_one();
            }
            goes_on
        }
    }
    let mailbox =
        Arc::new(Mailbox { messages: Mutex::default(), arrived: Event::new(), consumed: Mutex::default() });
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let tasks: Vec<_> = (0..4)
        .map(|place| {
            let mailbox = Arc::clone(&mailbox);
            runtime.spawn(async move {
                while mailbox.consume() {
                    if place % 2 == 0 {
                        mailbox.arrived.wait_async().await;
                    } else {
                        let _ =
                            tokio::time::timeout(Duration::from_micros(100), mailbox.arrived.wait_async())
                                .await;
                    }
                }
            })
        })
        .collect();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while mailbox.consume() {
                    mailbox.arrived.wait();
                }
            });
            scope.spawn(|| {
                while mailbox.consume() {
                    let _ = mailbox.arrived.wait_for(Duration::from_micros(100));
                }
            });
        }
        for producer in 0..2 {
            let mailbox = &mailbox;
            scope.spawn(move || {
                for message in 0..MESSAGES / 2 {
                    mailbox.messages.lock().unwrap().push(2 * message + producer);
                    mailbox.arrived.notify_one();
                }
            });
        }
    });
    for task in tasks {
        runtime.block_on(task).unwrap();
    }
    let mut consumed = mailbox.consumed.lock().unwrap().clone();
    consumed.sort_unstable();
    assert_eq!(consumed, (0..MESSAGES).collect::<Vec<_>>());
}

/// One step of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Poll(usize),
    Drop(usize),
    NotifyOne,
    NotifyLast,
    NotifyAll,
}

/// How a task waits.
#[derive(Clone, Copy, Debug)]
enum Form {
    Once,
    /// With a deadline that is not reached.
    Until,
    Owned,
    OwnedUntil,
}

struct World<'a> {
    event: &'a Event,
    tasks: Vec<Option<Task<'a, ()>>>,
    drops_left: usize,
    notifies_left: usize,
    all_left: bool,
    had: usize,
}

impl<'a> World<'a> {
    fn new(event: &'a Arc<Event>, forms: &[Form], notify_all: bool) -> Self {
        let tasks = forms.iter().map(|form| {
            let mut task = match form {
                Form::Once => Task::new(event.wait_async()),
                Form::Until => Task::new(async { event.wait_async_until(far()).await.unwrap() }),
                Form::Owned => Task::new(event.wait_owned_async()),
                Form::OwnedUntil => Task::new(async { event.wait_owned_async_until(far()).await.unwrap() }),
            };
            assert!(task.poll().is_pending());
            Some(task)
        });
        let tasks = tasks.collect();
        Self { event, tasks, drops_left: 2, notifies_left: 2, all_left: notify_all, had: 0 }
    }

    fn possible(&self) -> Vec<Op> {
        let waiting = || self.tasks.iter().enumerate().filter_map(|(i, task)| Some((i, task.as_ref()?)));
        let mut ops: Vec<Op> =
            waiting().filter(|(_, task)| task.is_woken()).map(|(i, _)| Op::Poll(i)).collect();
        if self.drops_left > 0 {
            ops.extend(waiting().map(|(i, _)| Op::Drop(i)));
        }
        if self.notifies_left > 0 {
            ops.push(Op::NotifyOne);
            ops.push(Op::NotifyLast);
        }
        if self.all_left {
            ops.push(Op::NotifyAll);
        }
        ops
    }

    fn perform(&mut self, op: Op) {
        match op {
            Op::Poll(i) => {
                let ready = self.tasks[i].as_mut().is_some_and(|task| task.poll().is_ready());
                assert!(ready, "woken for nothing");
                self.tasks[i] = None;
                self.had += 1;
            }
            Op::Drop(i) => {
                self.tasks[i] = None;
                self.drops_left -= 1;
            }
            Op::NotifyOne => {
                self.notify(Event::notify_one);
            }
            Op::NotifyLast => {
                self.notify(Event::notify_last);
            }
            Op::NotifyAll => {
                self.event.notify_all();
                self.all_left = false;
            }
        }
    }

    /// It wakes somebody if anybody is in the queue, and says so.
    fn notify(&mut self, notify: fn(&Event) -> EventNotified) {
        let waiters = self.event.waiters();
        let notified = notify(self.event);
        assert_eq!(notified.is_woken(), waiters > 0);
        assert_eq!(self.event.waiters(), waiters.saturating_sub(1));
        self.notifies_left -= 1;
    }

    fn is_any_left(&self) -> bool {
        self.tasks.iter().any(Option::is_some)
    }
}

/// Every schedule of polls, drops and notifies of three queued tasks, on the real event.
fn explore(forms: &[Form], notify_all: bool) -> usize {
    let mut schedules = 0;
    let mut unexplored: Vec<Vec<Op>> = vec![Vec::new()];
    while let Some(schedule) = unexplored.pop() {
        let event = Arc::new(Event::new());
        let mut world = World::new(&event, forms, notify_all);
        schedule.iter().for_each(|&op| world.perform(op));
        let possible = world.possible();
        unexplored.extend(possible.iter().map(|&op| schedule.iter().copied().chain([op]).collect()));
        let left = |op: &Op| matches!(op, Op::Drop(_));
        if !possible.iter().all(left) {
            continue;
        }
        schedules += 1;
        let stored = event.try_wait();
        assert!(!event.try_wait());
        if notify_all {
            // All queued waits have ended, one way or another.
            assert!(!world.is_any_left(), "{schedule:?}");
        } else {
            // Two wakeups: had, or stored for want of a waiter.
            assert_eq!(stored, world.had < 2, "{schedule:?}");
            assert!(!(stored && world.is_any_left()), "stored although one waits, {schedule:?}");
        }
    }
    schedules
}

#[test]
fn no_schedule_of_polls_and_drops_loses_a_wakeup() {
    use Form::*;
    for forms in
        [[Once; 3], [Until; 3], [Once, Until, Once], [Owned; 3], [OwnedUntil; 3], [Owned, Until, Owned]]
    {
        let schedules = explore(&forms, false) + explore(&forms, true);
        assert!(schedules > 500, "{schedules}");
    }
}

#[test]
fn it_crosses_threads_and_its_futures_do_not_move() {
    fn send_and_sync<T: Send + Sync>() {}
    send_and_sync::<Event>();
    send_and_sync::<EventWait<'static>>();
    send_and_sync::<EventWaitUntil<'static>>();
    send_and_sync::<EventListener<'static>>();
    send_and_sync::<EventWaitOwned>();
    send_and_sync::<EventWaitOwnedUntil>();
    send_and_sync::<OwnedEventListener>();
    EventWait::<'static>::check();
    EventWaitUntil::<'static>::check();
    EventListener::<'static>::check();
    EventWaitOwned::check();
    EventWaitOwnedUntil::check();
    OwnedEventListener::check();
    assert_eq!(size_of::<Event>(), 8);
    assert!(size_of::<EventWait<'static>>() <= 112, "{}", size_of::<EventWait<'static>>());
    assert_eq!(size_of::<EventWaitOwned>(), size_of::<EventWait<'static>>());
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
