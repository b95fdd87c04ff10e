//! Futures dropped at every possible moment, in every order, while tasks of each kind or a thread wait behind: the
//! waiters that are left are signalled.

use std::sync::Arc;
use std::thread;

use crate::common::law::{Held, Row, Way, law, laws};
use crate::common::schedules::{self, Actor, Actors, Step};
use crate::common::{Task, until};

laws! {
    [mutex writers permit async_lock]:
        no_schedule_of_polls_and_drops_loses_a_wakeup,
        a_thread_behind_a_future_dropped_at_any_moment_gets_the_lock;
}

struct World<'a, L> {
    row: &'a Row<L>,
    lock: &'a Arc<L>,
    barges_left: usize,
}

/// A barging acquirer takes the lock, if it can be had: it may be reserved for the waiters.
#[derive(Clone, Copy, Debug, PartialEq)]
struct BargeIn;

impl<'a, L> schedules::World<'a> for World<'a, L> {
    type Guard = Held<'a>;
    type Other = BargeIn;

    fn others(&self, actors: &Actors<'a, Held<'a>>) -> Vec<BargeIn> {
        let is_held = actors.held().next().is_some();
        (self.barges_left > 0 && !is_held).then_some(BargeIn).into_iter().collect()
    }

    fn perform(&mut self, BargeIn: BargeIn, actors: &mut Actors<'a, Held<'a>>) {
        self.barges_left -= 1;
        actors.all.extend(self.row.attempt(self.lock).map(Actor::Holding));
    }

    fn check(&mut self, _: Step<BargeIn>, actors: &mut Actors<'a, Held<'a>>) {
        assert!(actors.held().count() <= 1, "two hold it");
    }
}

/// All are queued in this order, behind a barging acquirer that holds the lock.
fn explore<L>(row: &Row<L>, ways: [&Way<L>; 3], drops: usize) -> usize {
    schedules::explore(|schedule| {
        let lock = (row.closed)();
        let mut world = World { row, lock: &lock, barges_left: 1 };
        let mut actors = Actors::new(drops);
        actors.all.push(Actor::Holding(row.lock(&lock)));
        ways.iter().for_each(|way| actors.enqueue(Task::new(way.wait(&lock))));
        assert_eq!(actors.waiting(), ways.len());
        if schedule.ends(&mut world, &mut actors) {
            assert!(!actors.is_any_left(), "never signalled, after {:?}", schedule.steps);
            row.assert_free(&lock);
        }
    })
}

/// Tasks only, all schedules.
fn no_schedule_of_polls_and_drops_loses_a_wakeup<L>(row: &Row<L>) {
    let tasks = row.tasks();
    let (first, timed, last) = (tasks[0], tasks[1], *tasks.last().unwrap());
    // The one before the last is owned, if any is.
    let owned = tasks[tasks.len() - 2];
    let schedules: usize =
        [[first; 3], [timed, owned, first], [last; 3]].into_iter().map(|ways| explore(row, ways, 2)).sum();
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

fn a_thread_behind_a_future_dropped_at_any_moment_gets_the_lock<L: Send + Sync>(row: &Row<L>) {
    use Moment::*;
    for moment in [New, Queued, Signalled, Barged, Holding] {
        for way in row.tasks() {
            let lock = (row.closed)();
            let held = row.lock(&lock);
            let mut task = Task::new(way.wait(&lock));
            if moment != New {
                assert!(task.poll().is_pending());
            }
            let queued = (row.waiters)(&lock);
            thread::scope(|scope| {
                scope.spawn(|| drop(row.lock(&lock)));
                until(|| (row.waiters)(&lock) == queued + 1);
                if matches!(moment, New | Queued) {
                    drop(task);
                    return drop(held);
                }
                drop(held);
                match moment {
                    Barged => {
                        // Unless the watchdog and the thread were faster.
                        let barged_in = row.attempt(&lock);
                        let polled = task.poll();
                        drop(task);
                        drop((barged_in, polled));
                    }
                    Holding => drop(task.finish()),
                    _ => drop(task),
                }
            });
            assert!(row.is_free(&lock), "{moment:?} {}", way.name);
            assert_eq!((row.waiters)(&lock), 0, "{moment:?} {}", way.name);
        }
    }
}
