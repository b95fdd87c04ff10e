//! The barrier: leaders, and arrivals that do not stay.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use waitword::*;

use crate::common::schedules::{self, Actor, Actors, Step};
use crate::common::{Task, block_on, far, waits};
use crate::rows;

type Passing = Result<BarrierWaitResult, LockError>;

#[test]
fn threads_and_tasks_meet_again_and_again() {
    const PARTIES: usize = 6;
    const GENERATIONS: usize = 200;
    let barrier = Barrier::new(PARTIES);
    let (arrivals, leaders) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let before = |generation| {
        assert!(arrivals.fetch_add(1, Ordering::Relaxed) >= generation * PARTIES);
    };
    let after = |generation: usize, result: BarrierWaitResult| {
        assert!(arrivals.load(Ordering::Relaxed) >= (generation + 1) * PARTIES, "a party is missing");
        leaders.fetch_add(usize::from(result.is_leader()), Ordering::Relaxed);
    };
    thread::scope(|scope| {
        let mut threads = Vec::new();
        for place in 0..PARTIES {
            let (barrier, before, after) = (&barrier, &before, &after);
            threads.push(scope.spawn(move || {
                for generation in 0..GENERATIONS {
                    before(generation);
                    let result = if place % 2 == 0 { barrier.wait() } else { block_on(barrier.wait_async()) };
                    after(generation, result);
                }
            }));
        }
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    assert_eq!(leaders.into_inner(), GENERATIONS);
}

struct World<'a> {
    barrier: &'a Barrier,
    /// The arrivals of the incomplete generation.
    arrived: Vec<usize>,
    /// The waits that have passed, and were not polled since.
    through: Vec<usize>,
}

impl<'a> schedules::World<'a> for World<'a> {
    type Guard = Passing;
    type Other = Infallible;

    fn others(&self, _: &Actors<'a, Passing>) -> Vec<Infallible> {
        Vec::new()
    }

    fn perform(&mut self, other: Infallible, _: &mut Actors<'a, Passing>) {
        match other {}
    }

    /// A task that was dropped has not arrived, unless its generation was complete.
    fn check(&mut self, step: Step<Infallible>, actors: &mut Actors<'a, Passing>) {
        match step {
            Step::Poll(index) => {
                let expected = if self.through.contains(&index) {
                    Some(false)
                } else if let Some(other) = self.arrived.pop() {
                    self.through.push(other);
                    Some(true)
                } else {
                    self.arrived.push(index);
                    None
                };
                let passed = matches!(actors.all[index], Actor::Holding(_)).then(|| actors.take(index));
                assert_eq!(passed.map(|result| result.unwrap().is_leader()), expected, "{step:?}");
            }
            Step::Drop(index) => self.arrived.retain(|&other| other != index),
            _ => unreachable!("there is no other step"),
        }
        assert_eq!(self.barrier.arrived(), self.arrived.len(), "{step:?}");
        for &index in &self.through {
            if let Actor::Waiting(task) = &actors.all[index] {
                assert!(task.is_woken(), "{index} is not, after {step:?}");
            }
        }
    }

    /// The party may be incomplete.
    fn is_stuck(&self, _: &Actors<'a, Passing>) -> bool {
        false
    }
}

/// Every schedule of polls and drops of four tasks at a barrier for two, on the real barrier.
#[test]
fn no_schedule_of_polls_and_drops_counts_an_arrival_that_has_left() {
    let schedules = schedules::explore(|schedule| {
        let barrier = Arc::new(Barrier::new(2));
        let mut world = World { barrier: &barrier, arrived: Vec::new(), through: Vec::new() };
        let mut actors = Actors::new(4);
        actors.all = vec![
            Actor::Waiting(Task::new(async { Ok(barrier.wait_async().await) })),
            Actor::Waiting(Task::new(barrier.wait_async().deadline(far()))),
            Actor::Waiting(Task::new(async { Ok(barrier.wait_owned_async().await) })),
            Actor::Waiting(Task::new(barrier.wait_owned_async().deadline(far()))),
        ];
        schedule.ends(&mut world, &mut actors);
    });
    assert!(schedules > 500, "{schedules}");
}

#[test]
fn every_way_to_wait_may_be_the_last_to_arrive() {
    for way in rows::barrier().ways {
        // Of three parties, for the rule above.
        let barrier = Arc::new(Barrier::new(3));
        thread::scope(|scope| {
            let thread = waits(scope, || barrier.arrived() == 1, || barrier.wait());
            let task = Task::queued(barrier.wait_async());
            let _must_not = forbid_blocking();
            assert!(way.run(&barrier, Duration::ZERO).is_ok(), "{}", way.name);
            let others = [task.finish(), thread.join().unwrap()];
            assert!(!others.iter().any(|result| result.is_leader()), "{}", way.name);
        });
        assert_eq!(barrier.arrived(), 0);
    }
}

#[test]
#[should_panic(expected = "MAX_PARTIES")]
fn too_many_parties_panic() {
    let _ = Barrier::new(Barrier::MAX_PARTIES + 1);
}

#[test]
fn debug_shows_the_state_and_never_waits() {
    let barrier = Arc::new(Barrier::new(3));
    let _task = Task::queued(barrier.wait_async());
    assert_eq!(format!("{barrier:?}"), "Barrier { parties: 3, arrived: 1 }");
    assert_eq!(format!("{:?}", barrier.wait_async()), "BarrierWait { waiting: false, .. }");
    assert_eq!(format!("{:?}", barrier.wait_owned_async()), "BarrierWait { waiting: false, .. }");
}
