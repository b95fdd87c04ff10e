//! Every schedule of polls, drops and notifies, and a crowd.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use waitword::*;

use crate::common::schedules::{self, Actors, Step};
use crate::common::{Task, block_on, far};

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
    const SOON: Duration = Duration::from_micros(100);
    let mailbox = Mailbox { messages: Mutex::default(), arrived: Event::new(), consumed: Mutex::default() };
    let (mailbox, arrived) = (&mailbox, &mailbox.arrived);
    thread::scope(|scope| {
        for place in 0..8 {
            scope.spawn(move || {
                while mailbox.consume() {
                    match place % 4 {
                        0 => arrived.wait(),
                        1 => drop(arrived.wait_for(SOON)),
                        2 => block_on(arrived.wait_async()),
                        // Dropped with what it may have been given.
                        _ => block_on(smol::future::or(arrived.wait_async(), async {
                            let _ = Event::new().wait_async().timeout(SOON).await;
                        })),
                    }
                }
            });
        }
        for producer in 0..2 {
            scope.spawn(move || {
                for message in 0..MESSAGES / 2 {
                    mailbox.messages.lock().unwrap().push(2 * message + producer);
                    arrived.notify_one();
                }
            });
        }
    });
    let mut consumed = mailbox.consumed.lock().unwrap().clone();
    consumed.sort_unstable();
    assert_eq!(consumed, (0..MESSAGES).collect::<Vec<_>>());
}

/// A notify of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Other {
    One,
    Last,
    All,
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
    notifies_left: usize,
    all_left: bool,
    had: usize,
}

impl<'a> schedules::World<'a> for World<'a> {
    type Guard = ();
    type Other = Other;

    fn others(&self, _: &Actors<'a, ()>) -> Vec<Other> {
        let mut others = Vec::new();
        if self.notifies_left > 0 {
            others.extend([Other::One, Other::Last]);
        }
        if self.all_left {
            others.push(Other::All);
        }
        others
    }

    /// It wakes a waiter if any is in the queue, and says so.
    fn perform(&mut self, other: Other, _: &mut Actors<'a, ()>) {
        let waiters = self.event.waiters();
        let notified = match other {
            Other::One => self.event.notify_one(),
            Other::Last => self.event.notify_last(),
            Other::All => {
                self.all_left = false;
                assert_eq!(self.event.notify_all(), waiters);
                return;
            }
        };
        assert_eq!(notified, waiters > 0);
        assert_eq!(self.event.waiters(), waiters.saturating_sub(1));
        self.notifies_left -= 1;
    }

    fn is_optional(_: Other) -> bool {
        false
    }

    fn check(&mut self, step: Step<Other>, actors: &mut Actors<'a, ()>) {
        if let Step::Poll(index) = step {
            // Or else it was woken for nothing.
            actors.take(index);
            self.had += 1;
        }
    }

    /// No watchdog wakes a waiter.
    fn is_stuck(&self, _: &Actors<'a, ()>) -> bool {
        false
    }
}

/// Every schedule of polls, drops and notifies of three queued tasks.
fn explore(forms: &[Form], notify_all: bool) -> usize {
    schedules::explore(|schedule| {
        let event = Arc::new(Event::new());
        let mut world = World { event: &event, notifies_left: 2, all_left: notify_all, had: 0 };
        let mut actors = Actors::new(2);
        for form in forms {
            actors.enqueue(match form {
                Form::Once => Task::new(event.wait_async()),
                Form::Until => Task::new(async { event.wait_async().deadline(far()).await.unwrap() }),
                Form::Owned => Task::new(event.wait_owned_async()),
                Form::OwnedUntil => {
                    Task::new(async { event.wait_owned_async().deadline(far()).await.unwrap() })
                }
            });
        }
        assert_eq!(event.waiters(), forms.len());
        if schedule.ends(&mut world, &mut actors) {
            let steps = &schedule.steps;
            let stored = event.try_wait();
            assert!(!event.try_wait());
            if notify_all {
                // All queued waits have ended, one way or another.
                assert!(!actors.is_any_left(), "{steps:?}");
            } else {
                // Two wakeups: had, or stored for want of a waiter.
                assert_eq!(stored, world.had < 2, "{steps:?}");
                assert!(!(stored && actors.is_any_left()), "stored although one waits, {steps:?}");
            }
        }
    })
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
