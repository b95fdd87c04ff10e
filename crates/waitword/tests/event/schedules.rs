//! Every schedule of polls, drops and notifies, and a crowd.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use waitword::*;

use crate::common::{Task, far};

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
