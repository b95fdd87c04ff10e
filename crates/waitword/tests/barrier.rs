//! The barrier from outside: the whole grid of names, leaders, and arrivals that do not stay.

mod common;

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use common::grid::{Got, Grid, got, ways};
use common::schedules::{self, Actor, Actors, Step};
use common::{Task, block_on, far, waits};
use waitword::*;

type Passing = Result<BarrierWaitResult, LockError>;

fn barrier() -> Grid<Barrier> {
    Grid {
        ways: ways! { Barrier:
            attempts [try_wait];
            blocks [wait, wait_for, wait_until => wait_async];
            awaits [wait_async];
            awaits [wait_owned_async];
        },
        open: || Arc::new(Barrier::new(1)),
        stays_open: |barrier| barrier.parties() == 1,
        closed: || Arc::new(Barrier::new(2)),
        close: |barrier| Box::new(|| assert!(barrier.try_wait().expect("the other is there").is_leader())),
        waiters: Barrier::arrived,
    }
}

// Of two parties the other one leads.
got!(Barrier: BarrierWaitResult => |barrier, result| result.is_leader() == (barrier.parties() != 2));

mod grid {
    crate::common::grid::the_whole_grid!(barrier:
        every_way_to_wait_gets_at_once_what_is_there,
        every_way_to_wait_waits_until_it_is_there,
        timed_forms_give_up_and_never_too_early,
        what_comes_before_the_poll_is_had_though_the_time_is_up,
        a_waiter_that_has_given_up_is_not_queued,
        a_timeout_is_counted_from_the_call,
        forbidden_to_block,
    );
}

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
    for way in barrier().ways {
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

/// Dropped in the queue, the wait takes its arrival back, in the barrier that it has the last share in.
#[test]
fn an_owned_wait_keeps_its_barrier_until_it_has_left_the_queue() {
    let barrier = Arc::new(Barrier::new(2));
    let task = Task::queued(barrier.wait_owned_async());
    let weak = Arc::downgrade(&barrier);
    drop(barrier);
    let barrier = weak.upgrade().expect("it has a share");
    assert_eq!(barrier.arrived(), 1);
    drop(task);
    assert_eq!(barrier.arrived(), 0);
    let last = Task::queued(barrier.wait_owned_async().deadline(far()));
    drop(barrier);
    drop(last);
    assert!(weak.upgrade().is_none());
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
