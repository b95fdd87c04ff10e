//! Every schedule of polls, drops and notifies.

use std::sync::Arc;

use waitword::*;

use crate::common::Task;
use crate::common::law::Way;
use crate::common::schedules::{self, Actors, Step};
use crate::rows;

/// A notify of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Other {
    One,
    Last,
    All,
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
fn explore(ways: [&Way<Event>; 3], notify_all: bool) -> usize {
    schedules::explore(|schedule| {
        let event = Arc::new(Event::new());
        let mut world = World { event: &event, notifies_left: 2, all_left: notify_all, had: 0 };
        let mut actors = Actors::new(2);
        ways.iter().for_each(|way| actors.enqueue(Task::new(async { drop(way.wait(&event).await) })));
        assert_eq!(event.waiters(), ways.len());
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
    let row = rows::event();
    let [once, until, owned, owned_until] = row.tasks()[..] else { panic!("it has more forms") };
    for ways in
        [[once; 3], [until; 3], [once, until, once], [owned; 3], [owned_until; 3], [owned, until, owned]]
    {
        let schedules = explore(ways, false) + explore(ways, true);
        assert!(schedules > 500, "{schedules}");
    }
}
