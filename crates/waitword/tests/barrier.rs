//! The barrier from outside: the whole grid of names, leaders, and arrivals that do not stay.

mod common;

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use common::schedules::{self, Actor, Actors, Step};
use common::{Task, block_on, far, forbidden, until, waits};
use waitword::*;

type Passing = Result<BarrierWaitResult, LockError>;
type Way = (&'static str, fn(&Arc<Barrier>) -> Passing);

const WAYS: [Way; 9] = [
    ("wait", |barrier| Ok(barrier.wait())),
    ("wait_for", |barrier| barrier.wait_for(Duration::MAX)),
    ("wait_until", |barrier| barrier.wait_until(far())),
    ("wait_async", |barrier| Ok(block_on(barrier.wait_async()))),
    ("wait_async_for", |barrier| block_on(barrier.wait_async_for(Duration::MAX))),
    ("wait_async_until", |barrier| block_on(barrier.wait_async_until(far()))),
    ("wait_owned_async", |barrier| Ok(block_on(barrier.wait_owned_async()))),
    ("wait_owned_async_for", |barrier| block_on(barrier.wait_owned_async_for(Duration::MAX))),
    ("wait_owned_async_until", |barrier| block_on(barrier.wait_owned_async_until(far()))),
];

const WAYS_WITHOUT_TIME: [Way; 7] = [
    ("try_wait", |barrier| barrier.try_wait().ok_or(LockError::TIMED_OUT)),
    ("wait_for", |barrier| barrier.wait_for(Duration::ZERO)),
    ("wait_until", |barrier| barrier.wait_until(Instant::now())),
    ("wait_async_for", |barrier| block_on(barrier.wait_async_for(Duration::ZERO))),
    ("wait_async_until", |barrier| block_on(barrier.wait_async_until(Instant::now()))),
    ("wait_owned_async_for", |barrier| block_on(barrier.wait_owned_async_for(Duration::ZERO))),
    ("wait_owned_async_until", |barrier| block_on(barrier.wait_owned_async_until(Instant::now()))),
];

#[test]
fn a_party_of_one_leads_without_waiting() {
    let _nobody_may_wait = forbid_blocking();
    for parties in [0, 1] {
        let barrier = Arc::new(Barrier::new(parties));
        for (way, wait) in WAYS.into_iter().chain(WAYS_WITHOUT_TIME) {
            assert!(wait(&barrier).unwrap().is_leader(), "{way}");
        }
    }
}

#[test]
fn every_way_to_wait_meets_every_other() {
    let barrier = Arc::new(Barrier::new(2));
    for (first, wait) in WAYS {
        for (last, arrive) in WAYS.into_iter().chain(WAYS_WITHOUT_TIME) {
            thread::scope(|scope| {
                let waiter = waits(scope, || barrier.arrived() == 1, || wait(&barrier));
                assert!(arrive(&barrier).unwrap().is_leader(), "{first}, {last}");
                assert!(!waiter.join().unwrap().unwrap().is_leader(), "{first}, {last}");
            });
            assert_eq!(barrier.arrived(), 0);
        }
    }
}

#[test]
fn a_wait_that_gives_up_has_not_arrived() {
    let barrier = Arc::new(Barrier::new(2));
    for (way, wait) in WAYS_WITHOUT_TIME {
        assert_eq!(wait(&barrier), Err(LockError::TIMED_OUT), "{way}");
        assert_eq!(barrier.arrived(), 0, "{way}");
    }
    for timeout in [1, 3, 15].map(Duration::from_millis) {
        let start = Instant::now();
        assert_eq!(barrier.wait_for(timeout), Err(LockError::TIMED_OUT));
        assert!(start.elapsed() >= timeout);
        let start = Instant::now();
        assert_eq!(block_on(barrier.wait_async_for(timeout)), Err(LockError::TIMED_OUT));
        assert!(start.elapsed() >= timeout);
        assert_eq!(barrier.arrived(), 0);
    }
}

#[test]
fn a_wait_that_was_in_time_passes_though_the_time_is_up() {
    let barrier = Barrier::new(2);
    let deadline = Instant::now() + Duration::from_millis(20);
    let mut task = Task::new(barrier.wait_async_until(deadline));
    if task.poll().is_pending() && barrier.try_wait().is_some() {
        until(|| Instant::now() > deadline);
        assert!(matches!(task.poll(), Poll::Ready(Ok(result)) if !result.is_leader()));
    }
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
            Actor::Waiting(Task::new(barrier.wait_async_until(far()))),
            Actor::Waiting(Task::new(async { Ok(barrier.wait_owned_async().await) })),
            Actor::Waiting(Task::new(barrier.wait_owned_async_until(far()))),
        ];
        schedule.ends(&mut world, &mut actors);
    });
    assert!(schedules > 500, "{schedules}");
}

#[test]
fn forbidden_to_block() {
    let barrier = Barrier::new(2);
    let message = forbidden(|| barrier.wait());
    assert!(message.contains("`wait_async`"), "{message}");
    assert_eq!(barrier.arrived(), 0);
    let _must_not = forbid_blocking();
    assert_eq!(barrier.wait_for(Duration::from_secs(1)), Err(LockError::BlockingForbidden));
    assert_eq!(barrier.wait_until(far()), Err(LockError::BlockingForbidden));
    assert_eq!(barrier.wait_for(Duration::ZERO), Err(LockError::TIMED_OUT), "that would not have waited");
    assert_eq!(barrier.arrived(), 0);
    let mut task = Task::new(barrier.wait_async());
    assert!(task.poll().is_pending());
    assert!(barrier.wait().is_leader(), "the last may always");
    assert!(task.poll().is_ready());
}

/// Dropped in the queue, the wait takes its arrival back, in the barrier that it has the last share in.
#[test]
fn an_owned_wait_keeps_its_barrier_until_it_has_left_the_queue() {
    let barrier = Arc::new(Barrier::new(2));
    let mut task = Task::new(barrier.wait_owned_async());
    assert!(task.poll().is_pending());
    let weak = Arc::downgrade(&barrier);
    drop(barrier);
    let barrier = weak.upgrade().expect("it has a share");
    assert_eq!(barrier.arrived(), 1);
    drop(task);
    assert_eq!(barrier.arrived(), 0);
    let mut last = Task::new(barrier.wait_owned_async_until(far()));
    assert!(last.poll().is_pending());
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
    let mut task = Task::new(barrier.wait_async());
    assert!(task.poll().is_pending());
    assert_eq!(format!("{barrier:?}"), "Barrier { parties: 3, arrived: 1 }");
    assert_eq!(format!("{:?}", barrier.wait_async()), "BarrierWait { waiting: false, .. }");
    assert_eq!(format!("{:?}", barrier.wait_owned_async()), "BarrierWaitOwned { waiting: false, .. }");
}
