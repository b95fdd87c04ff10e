//! No permit is lost and none is made, in every schedule of the polls and drops of a few acquirers of different
//! numbers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use waitword::{Semaphore, SemaphorePermit};

use crate::common::schedules::{self, Actors, Step};
use crate::common::{Task, waiters};

const PERMITS: usize = 3;

struct World<'a> {
    semaphore: &'a Semaphore,
    barges_left: usize,
    barger: Option<SemaphorePermit<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Other {
    /// A barging acquirer takes one permit, if it can be had.
    BargeIn,
    /// It gives one back.
    BargeOut,
}

impl<'a> schedules::World<'a> for World<'a> {
    type Guard = SemaphorePermit<'a>;
    type Other = Other;

    fn others(&self, _: &Actors<'a, SemaphorePermit<'a>>) -> Vec<Other> {
        if self.barger.is_some() {
            vec![Other::BargeOut]
        } else if self.barges_left > 0 && self.semaphore.available_permits() > 0 {
            vec![Other::BargeIn]
        } else {
            Vec::new()
        }
    }

    fn perform(&mut self, other: Other, _: &mut Actors<'a, SemaphorePermit<'a>>) {
        self.barger = match other {
            Other::BargeIn => {
                self.barges_left -= 1;
                self.semaphore.try_acquire().ok()
            }
            // One by one, so that there are signals for less than the next one wants.
            Other::BargeOut => self.barger.take().and_then(|mut held| {
                drop(held.split(1));
                (held.num_permits() > 0).then_some(held)
            }),
        };
    }

    fn is_optional(other: Other) -> bool {
        other == Other::BargeIn
    }

    fn check(&mut self, step: Step<Other>, actors: &mut Actors<'a, SemaphorePermit<'a>>) {
        let held = actors.held().chain(&self.barger).map(SemaphorePermit::num_permits).sum::<usize>();
        assert_eq!(held + self.semaphore.available_permits(), PERMITS, "after {step:?}");
    }
}

/// All are queued in this order, behind a barging acquirer that holds all permits.
fn explore(wants: &[usize], drops: usize) -> usize {
    schedules::explore(|schedule| {
        let semaphore = Semaphore::new(PERMITS);
        let barger = Some(semaphore.acquire_many(PERMITS).unwrap());
        let mut world = World { semaphore: &semaphore, barges_left: 1, barger };
        let mut actors = Actors::new(drops);
        for &wants in wants {
            let acquire = semaphore.acquire_many_async(wants);
            actors.enqueue(Task::new(async { acquire.await.unwrap() }));
        }
        assert_eq!(actors.waiting(), wants.len());
        if schedule.ends(&mut world, &mut actors) {
            let steps = &schedule.steps;
            assert!(!actors.is_any_left(), "never signalled, after {steps:?}");
            assert!(semaphore.try_acquire_many(PERMITS).is_ok(), "none is reserved, after {steps:?}");
            assert_eq!(waiters(&semaphore), 0);
        }
    })
}

#[test]
fn no_schedule_of_polls_and_drops_loses_a_permit_or_a_wakeup() {
    let mut schedules = 0;
    for wants in [[3, 1, 1], [2, 1, 3], [1, 2, 2], [2, 2, 1]] {
        schedules += explore(&wants, 2);
    }
    assert!(schedules > 1_000, "{schedules}");
}

/// Of more than there can be none would go back.
#[test]
fn permits_merge_up_to_as_many_as_a_semaphore_can_have() {
    let semaphore = Arc::new(Semaphore::new(Semaphore::MAX_PERMITS));
    let mut all = semaphore.acquire_many(Semaphore::MAX_PERMITS - 1).unwrap();
    all.merge(semaphore.acquire().unwrap());
    semaphore.add_permits(2);
    let more = semaphore.acquire().unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| all.merge(more))).is_err());
    assert_eq!(
        (all.num_permits(), semaphore.available_permits()),
        (Semaphore::MAX_PERMITS, 2),
        "it went back"
    );
    let mut owned = semaphore.acquire_owned().unwrap();
    owned.merge(semaphore.acquire_owned().unwrap());
    all.forget();
    semaphore.add_permits(Semaphore::MAX_PERMITS);
    let many = semaphore.acquire_many_owned(Semaphore::MAX_PERMITS).unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| owned.merge(many))).is_err());
    assert_eq!((owned.num_permits(), semaphore.available_permits()), (2, Semaphore::MAX_PERMITS));
}
