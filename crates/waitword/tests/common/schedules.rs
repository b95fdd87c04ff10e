//! Every schedule of the steps of a small world, each run on the real locks.
//!
//! A few tasks wait in a queue. A task is polled only when it has been woken, so that a schedule which ends with a waiter that could
//! have gone on is a lost wakeup. (The watchdog would signal it, but the schedule does not wait for that.)

use std::fmt::Debug;
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use super::Task;

/// One step of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step<Other> {
    Poll(usize),
    Drop(usize),
    Release(usize),
    /// One that only this world has.
    Other(Other),
}

pub(crate) enum Actor<'a, G> {
    Waiting(Task<'a, G>),
    Holding(G),
    Gone,
}

/// Acquirers, at some point of a schedule.
pub(crate) struct Actors<'a, G> {
    pub(crate) all: Vec<Actor<'a, G>>,
    pub(crate) drops_left: usize,
}

impl<'a, G> Actors<'a, G> {
    pub(crate) fn new(drops_left: usize) -> Self {
        Self { all: Vec::new(), drops_left }
    }

    /// Polls a task for the first time.
    pub(crate) fn enqueue(&mut self, mut task: Task<'a, G>) {
        self.all.push(match task.poll() {
            Poll::Ready(guard) => Actor::Holding(guard),
            Poll::Pending => Actor::Waiting(task),
        });
    }

    pub(crate) fn waiting(&self) -> usize {
        self.all.iter().filter(|actor| matches!(actor, Actor::Waiting(_))).count()
    }

    pub(crate) fn held(&self) -> impl Iterator<Item = &G> {
        self.all.iter().filter_map(|actor| if let Actor::Holding(guard) = actor { Some(guard) } else { None })
    }

    pub(crate) fn is_any_left(&self) -> bool {
        self.waiting() > 0 || self.held().next().is_some()
    }

    /// The guard of one that holds the lock, which is gone.
    pub(crate) fn take(&mut self, index: usize) -> G {
        match std::mem::replace(&mut self.all[index], Actor::Gone) {
            Actor::Holding(guard) => guard,
            _ => unreachable!("it holds the lock"),
        }
    }

    fn possible<Other>(&self) -> Vec<Step<Other>> {
        let mut steps = Vec::new();
        for (index, actor) in self.all.iter().enumerate() {
            match actor {
                Actor::Waiting(task) => {
                    if task.is_woken() {
                        steps.push(Step::Poll(index));
                    }
                    if self.drops_left > 0 {
                        steps.push(Step::Drop(index));
                    }
                }
                Actor::Holding(_) => steps.push(Step::Release(index)),
                Actor::Gone => {}
            }
        }
        steps
    }

    fn perform<Other>(&mut self, step: Step<Other>) {
        match step {
            Step::Poll(index) => {
                let Actor::Waiting(task) = &mut self.all[index] else { unreachable!("it was waiting") };
                if let Poll::Ready(guard) = task.poll() {
                    self.all[index] = Actor::Holding(guard);
                }
            }
            Step::Drop(index) => {
                self.drops_left -= 1;
                self.all[index] = Actor::Gone;
            }
            Step::Release(index) => self.all[index] = Actor::Gone,
            Step::Other(_) => {}
        }
    }
}

/// What the actors of a schedule wait for.
pub(crate) trait World<'a> {
    type Guard;
    /// Steps that are not those of an actor.
    type Other: Copy + Debug + PartialEq;

    /// Which of them may come next.
    fn others(&self, actors: &Actors<'a, Self::Guard>) -> Vec<Self::Other>;

    fn perform(&mut self, other: Self::Other, actors: &mut Actors<'a, Self::Guard>);

    /// Whether a schedule may end without it. The choice not to take such a step is made by taking another.
    fn is_optional(_: Self::Other) -> bool {
        true
    }

    /// What holds after each step.
    fn check(&mut self, step: Step<Self::Other>, actors: &mut Actors<'a, Self::Guard>);

    /// Whether a waiter is left although no step is.
    fn is_stuck(&self, actors: &Actors<'a, Self::Guard>) -> bool {
        actors.is_any_left()
    }
}

/// Depth first; a schedule is run from the beginning for each of its continuations. `run` makes a world, has it
/// [follow](Schedule::ends) the schedule, and checks what it has come to at the end. Returns how many schedules there are.
pub(crate) fn explore<Other: Copy + PartialEq>(run: impl Fn(&mut Schedule<Other>)) -> usize {
    let mut ends = 0;
    let mut unexplored = vec![Vec::new()];
    while let Some(steps) = unexplored.pop() {
        let mut schedule = Schedule { steps, possible: Vec::new(), ends: false };
        run(&mut schedule);
        let Schedule { steps, possible, ends: is_end } = schedule;
        unexplored.extend(possible.into_iter().map(|step| steps.iter().copied().chain([step]).collect()));
        ends += usize::from(is_end);
    }
    ends
}

/// What has been done so far.
pub(crate) struct Schedule<Other> {
    pub(crate) steps: Vec<Step<Other>>,
    possible: Vec<Step<Other>>,
    ends: bool,
}

impl<Other: Copy + Debug + PartialEq> Schedule<Other> {
    /// Takes all its steps in a new world. Returns whether it has come to an end: no step that must be taken is left.
    pub(crate) fn ends<'a, W: World<'a, Other = Other>>(
        &mut self,
        world: &mut W,
        actors: &mut Actors<'a, W::Guard>,
    ) -> bool {
        let possible = |world: &W, actors: &Actors<'a, W::Guard>| {
            let mut steps = actors.possible();
            steps.extend(world.others(actors).into_iter().map(Step::Other));
            steps
        };
        // On a slow machine the watchdog may have signalled another waiter, and the steps differ from the last time.
        let is_possible = self.steps.iter().all(|&step| {
            let is_possible = possible(world, actors).contains(&step);
            if is_possible {
                actors.perform(step);
                if let Step::Other(other) = step {
                    world.perform(other, actors);
                }
                world.check(step, actors);
            }
            is_possible
        });
        if is_possible {
            let start = Instant::now();
            loop {
                self.possible = possible(world, actors);
                self.ends = self.possible.iter().all(|&step| match step {
                    Step::Drop(_) => true,
                    Step::Other(other) => W::is_optional(other),
                    Step::Poll(_) | Step::Release(_) => false,
                });
                // The watchdog may have signalled a waiter and not yet woken it: that wakeup is not lost.
                if !(self.ends && world.is_stuck(actors) && start.elapsed() < Duration::from_secs(60)) {
                    break;
                }
                thread::yield_now();
            }
        }
        self.ends
    }
}
