//! No permit is lost and none is made: in every schedule of the polls and drops of a few acquirers of different numbers, and in
//! a crowd of threads and tasks.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use waitword::{AcquireError, Closed, Semaphore, SemaphorePermit};

use crate::common::schedules::{self, Actors, Step};
use crate::common::semaphore::waiters;
use crate::common::{Task, block_on, until};

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

struct Shared {
    semaphore: Semaphore,
    /// How many permits are in use, as their users count them.
    in_use: AtomicUsize,
    rounds: usize,
}

const MANY: usize = 5;

impl Shared {
    fn new(rounds: usize) -> Arc<Self> {
        Arc::new(Self { semaphore: Semaphore::new(MANY), in_use: AtomicUsize::new(0), rounds })
    }

    fn put_to_use(&self, permit: &SemaphorePermit<'_>) {
        let before = self.in_use.fetch_add(permit.num_permits(), Ordering::SeqCst);
        assert!(before + permit.num_permits() <= MANY, "more than there are");
    }

    fn use_permit(&self, mut permit: SemaphorePermit<'_>) {
        self.put_to_use(&permit);
        std::hint::spin_loop();
        self.in_use.fetch_sub(permit.num_permits(), Ordering::SeqCst);
        // In two parts, or one.
        drop(permit.split(1));
    }

    fn as_thread(&self, seed: usize) -> Result<(), Closed> {
        for round in 0..self.rounds {
            let n = (seed + round) % MANY + 1;
            match (seed + round) % 4 {
                0 => {
                    self.semaphore.try_acquire_many(n).into_iter().for_each(|permit| self.use_permit(permit))
                }
                1 => match self.semaphore.acquire_many_for(n, Duration::from_micros(round as u64 % 50)) {
                    Ok(permit) => self.use_permit(permit),
                    Err(error) => assert_ne!(error, AcquireError::BlockingForbidden),
                },
                _ => self.use_permit(self.semaphore.acquire_many(n)?),
            }
        }
        Ok(())
    }

    async fn as_task(self: Arc<Self>, seed: usize) -> Result<(), Closed> {
        for round in 0..self.rounds {
            let n = (seed + 2 * round) % MANY + 1;
            match (seed + round) % 4 {
                0 => {
                    let timeout = Duration::from_micros(round as u64 % 50);
                    if let Ok(permit) = self.semaphore.acquire_many_async_for(n, timeout).await {
                        self.use_permit(permit);
                    }
                }
                // Dropped while it waits, perhaps after its signal.
                1 => {
                    let used = async {
                        self.semaphore.acquire_many_async(n).await.map(|permit| self.use_permit(permit))
                    };
                    let leaves = async {
                        smol::future::yield_now().await;
                        Ok(())
                    };
                    smol::future::or(used, leaves).await?;
                }
                2 => {
                    let permit = self.semaphore.acquire_many_async(n).await?;
                    self.put_to_use(&permit);
                    smol::future::yield_now().await;
                    self.in_use.fetch_sub(n, Ordering::SeqCst);
                }
                _ => self.use_permit(self.semaphore.acquire_many_async(n).await?),
            }
        }
        Ok(())
    }
}

/// Three threads, a task by itself, and four tasks that run side by side.
fn stress(shared: &Arc<Shared>, during: impl FnOnce()) -> Vec<Result<(), Closed>> {
    thread::scope(|scope| {
        let mut parts: Vec<_> = (0..3).map(|seed| scope.spawn(move || shared.as_thread(seed))).collect();
        parts.push(scope.spawn(|| block_on(Arc::clone(shared).as_task(3))));
        parts.push(scope.spawn(|| {
            smol::future::block_on(async {
                let tasks: Vec<_> =
                    (4..8).map(|seed| smol::spawn(Arc::clone(shared).as_task(seed))).collect();
                for task in tasks {
                    task.await?;
                }
                Ok(())
            })
        }));
        during();
        parts.into_iter().map(|part| part.join().unwrap()).collect()
    })
}

#[test]
fn a_crowd_uses_no_more_permits_than_there_are_and_loses_none() {
    let shared = Shared::new(2_000);
    assert!(stress(&shared, || ()).iter().all(Result::is_ok));
    assert_eq!(shared.in_use.load(Ordering::SeqCst), 0);
    assert!(shared.semaphore.try_acquire_many(MANY).is_ok());
    assert_eq!(waiters(&shared.semaphore), 0);
}

#[test]
fn a_crowd_goes_home_when_it_is_closed() {
    for round in 0..20 {
        let shared = Shared::new(usize::MAX);
        let ends = stress(&shared, || {
            let queue = || until(|| waiters(&shared.semaphore) > round % 4);
            let queued = catch_unwind(AssertUnwindSafe(queue));
            // In any case: else they would never go home.
            shared.semaphore.close();
            queued.unwrap();
        });
        assert!(ends.iter().all(Result::is_err));
        // Tasks that were still running when the first of them had its end.
        until(|| shared.semaphore.available_permits() == MANY);
        assert_eq!(waiters(&shared.semaphore), 0);
    }
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
