//! Futures dropped at every possible moment, in every order, while tasks of each kind or a thread wait behind: the
//! waiters that are left are signalled.

use std::sync::Arc;
use std::thread;

use super::exclusive::{Exclusive, Held, WAYS, Way};
use super::schedules::{self, Actor, Actors, Step};
use super::{Task, until};

/// All of them, for one lock.
macro_rules! futures_are_dropped_at_any_moment {
    ($Lock:ty) => {
        #[test]
        fn no_schedule_of_polls_and_drops_loses_a_wakeup() {
            $crate::common::dropped::no_schedule_of_polls_and_drops_loses_a_wakeup::<$Lock>();
        }

        #[test]
        fn a_thread_behind_a_future_dropped_at_any_moment_gets_the_lock() {
            $crate::common::dropped::a_thread_behind_a_future_dropped_at_any_moment_gets_the_lock::<$Lock>();
        }
    };
}
pub(crate) use futures_are_dropped_at_any_moment;

struct World<'a, L> {
    lock: &'a Arc<L>,
    barges_left: usize,
}

/// A barging acquirer takes the lock, if it can be had: it may be reserved for the waiters.
#[derive(Clone, Copy, Debug, PartialEq)]
struct BargeIn;

impl<'a, L: Exclusive> schedules::World<'a> for World<'a, L> {
    type Guard = Held<'a>;
    type Other = BargeIn;

    fn others(&self, actors: &Actors<'a, Held<'a>>) -> Vec<BargeIn> {
        let is_held = actors.held().next().is_some();
        (self.barges_left > 0 && !is_held).then_some(BargeIn).into_iter().collect()
    }

    fn perform(&mut self, BargeIn: BargeIn, actors: &mut Actors<'a, Held<'a>>) {
        self.barges_left -= 1;
        actors.all.extend(self.lock.try_lock().map(Actor::Holding));
    }

    fn check(&mut self, _: Step<BargeIn>, actors: &mut Actors<'a, Held<'a>>) {
        assert!(actors.held().count() <= 1, "two hold it");
    }
}

/// All are queued in this order, behind a barging acquirer that holds the lock.
fn explore<L: Exclusive>(ways: &[Way], drops: usize) -> usize {
    schedules::explore(|schedule| {
        let lock = L::free();
        let mut world = World { lock: &lock, barges_left: 1 };
        let mut actors = Actors::new(drops);
        actors.all.push(Actor::Holding(lock.lock()));
        ways.iter().for_each(|&way| actors.enqueue(Task::new(lock.wait(way))));
        assert_eq!(actors.waiting(), ways.len());
        if schedule.ends(&mut world, &mut actors) {
            assert!(!actors.is_any_left(), "never signalled, after {:?}", schedule.steps);
            assert!(lock.is_free());
            assert_eq!(lock.waiters(), 0);
        }
    })
}

/// Tasks only, all schedules.
pub(crate) fn no_schedule_of_polls_and_drops_loses_a_wakeup<L: Exclusive>() {
    let mut schedules = 0;
    for ways in [[Way::Borrowed; 3], [Way::Timed, Way::Owned, Way::Borrowed], [Way::OwnedTimed; 3]] {
        schedules += explore::<L>(&ways, 2);
    }
    assert!(schedules > 1_000, "{schedules}");
}

/// When a queued future before a thread is dropped.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Moment {
    /// Never polled.
    New,
    Queued,
    Signalled,
    /// Signalled, and polled in vain because another acquirer barged.
    Barged,
    Holding,
}

pub(crate) fn a_thread_behind_a_future_dropped_at_any_moment_gets_the_lock<L: Exclusive>() {
    use Moment::*;
    for moment in [New, Queued, Signalled, Barged, Holding] {
        for way in WAYS {
            let lock = L::free();
            let held = lock.lock();
            let mut task = Task::new(lock.wait(way));
            if moment != New {
                assert!(task.poll().is_pending());
            }
            let queued = lock.waiters();
            thread::scope(|scope| {
                scope.spawn(|| drop(lock.lock()));
                until(|| lock.waiters() == queued + 1);
                if matches!(moment, New | Queued) {
                    drop(task);
                    return drop(held);
                }
                drop(held);
                match moment {
                    Barged => {
                        // Unless the watchdog and the thread were faster.
                        let barged_in = lock.try_lock();
                        let polled = task.poll();
                        drop(task);
                        drop((barged_in, polled));
                    }
                    Holding => drop(task.finish()),
                    _ => drop(task),
                }
            });
            assert!(lock.is_free(), "{moment:?} {way:?}");
            assert_eq!(lock.waiters(), 0, "{moment:?} {way:?}");
        }
    }
}
