//! Futures dropped at every possible moment, in every order, while tasks of each kind or a thread wait behind: the
//! waiters that are left are signalled.
//!
//! Every schedule of the polls, drops and releases of a few tasks is run on the real lock. A task is polled only when
//! it has been woken, so that a schedule which ends with a task unfinished is a lost wakeup. (The watchdog would
//! signal it, but the schedule does not wait for that.)

use std::sync::Arc;
use std::task::Poll;
use std::thread;

use super::exclusive::{Exclusive, Held, WAYS, Way};
use super::{Task, schedules, until};

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

/// One step of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Poll(usize),
    Drop(usize),
    Release(usize),
    /// A barging acquirer takes the lock, if it can be had.
    BargeIn,
    BargeOut,
}

enum Actor<'a> {
    Waiting(Task<'a, Held<'a>>),
    Holding(Held<'a>),
    Gone,
}

struct World<'a, L> {
    lock: &'a Arc<L>,
    actors: Vec<Actor<'a>>,
    drops_left: usize,
    barges_left: usize,
    barger: Option<Held<'a>>,
}

impl<'a, L: Exclusive> World<'a, L> {
    /// All are queued in this order, behind a barging acquirer that holds the lock.
    fn new(lock: &'a Arc<L>, ways: &[Way], drops_left: usize) -> Self {
        let barger = lock.lock();
        let actors = ways.iter().map(|&way| {
            let mut task = Task::new(lock.wait(way));
            assert!(task.poll().is_pending());
            Actor::Waiting(task)
        });
        Self { lock, actors: actors.collect(), drops_left, barges_left: 1, barger: Some(barger) }
    }

    fn is_held(&self) -> bool {
        self.barger.is_some() || self.actors.iter().any(|actor| matches!(actor, Actor::Holding(_)))
    }
}

impl<L: Exclusive> schedules::World for World<'_, L> {
    type Op = Op;

    fn possible(&self) -> Vec<Op> {
        let mut ops = Vec::new();
        for (index, actor) in self.actors.iter().enumerate() {
            match actor {
                Actor::Waiting(task) => {
                    if task.is_woken() {
                        ops.push(Op::Poll(index));
                    }
                    if self.drops_left > 0 {
                        ops.push(Op::Drop(index));
                    }
                }
                Actor::Holding(_) => ops.push(Op::Release(index)),
                Actor::Gone => {}
            }
        }
        if self.barger.is_some() {
            ops.push(Op::BargeOut);
        } else if self.barges_left > 0 && !self.is_held() {
            ops.push(Op::BargeIn);
        }
        ops
    }

    fn perform(&mut self, op: Op) {
        match op {
            Op::Poll(index) => {
                let is_held = self.is_held();
                let Actor::Waiting(task) = &mut self.actors[index] else { unreachable!("it was waiting") };
                if let Poll::Ready(held) = task.poll() {
                    assert!(!is_held, "two hold it");
                    self.actors[index] = Actor::Holding(held);
                }
            }
            Op::Drop(index) => {
                self.drops_left -= 1;
                self.actors[index] = Actor::Gone;
            }
            Op::Release(index) => self.actors[index] = Actor::Gone,
            Op::BargeIn => {
                self.barges_left -= 1;
                // It may be reserved for the waiters.
                self.barger = self.lock.try_lock();
            }
            Op::BargeOut => self.barger = None,
        }
    }

    fn is_stuck(&self) -> bool {
        self.actors.iter().any(|actor| !matches!(actor, Actor::Gone))
    }

    fn is_optional(op: Op) -> bool {
        matches!(op, Op::Drop(_) | Op::BargeIn)
    }
}

fn explore<L: Exclusive>(ways: &[Way], drops: usize) -> usize {
    schedules::explore(|schedule| {
        let lock = L::free();
        let mut world = World::new(&lock, ways, drops);
        if schedule.ends(&mut world) {
            let lost = world.actors.iter().position(|actor| !matches!(actor, Actor::Gone));
            assert_eq!(lost, None, "never signalled, after {:?}", schedule.ops);
            assert!(lock.try_lock().is_some(), "it is free");
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
#[derive(Clone, Copy, Debug)]
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
            if !matches!(moment, New) {
                assert!(task.poll().is_pending());
            }
            let queued = lock.waiters();
            thread::scope(|scope| {
                scope.spawn(|| drop(lock.lock()));
                until(|| lock.waiters() == queued + 1);
                match moment {
                    New | Queued => {
                        drop(task);
                        drop(held);
                    }
                    Signalled => {
                        drop(held);
                        drop(task);
                    }
                    Barged => {
                        drop(held);
                        // Unless the watchdog and the thread were faster.
                        let barged_in = lock.try_lock();
                        let polled = task.poll();
                        drop(task);
                        drop((barged_in, polled));
                    }
                    Holding => {
                        drop(held);
                        drop(task.finish());
                    }
                }
            });
            assert!(lock.try_lock().is_some(), "{moment:?} {way:?}");
            assert_eq!(lock.waiters(), 0, "{moment:?} {way:?}");
        }
    }
}
