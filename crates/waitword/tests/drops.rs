//! Futures dropped at every possible moment, in every order: whoever is left is called.
//!
//! Every schedule of the polls, drops and releases of a few tasks is run on the real lock. A task is polled only when
//! it has been woken, so that a schedule which ends with a task unfinished is a lost wakeup.

mod common;

use std::task::Poll;

use common::{Task, far};
use waitword::{AsyncLock, LockError};

/// One step of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Poll(usize),
    Drop(usize),
    Unlock(usize),
    /// Somebody who has not waited takes the lock, if it is free.
    BargeIn,
    BargeOut,
}

enum Actor<'a> {
    Waiting(Task<'a, Result<(), LockError>>),
    Holding,
    Gone,
}

struct World<'a> {
    lock: &'a AsyncLock,
    actors: Vec<Actor<'a>>,
    drops_left: usize,
    barges_left: usize,
    barged_in: bool,
}

impl<'a> World<'a> {
    /// Everybody is in line behind a barger who holds the lock, in this order.
    fn new(lock: &'a AsyncLock, timed: &[bool], drops_left: usize) -> Self {
        lock.lock();
        let actors = timed.iter().map(|&timed| {
            let mut task = match timed {
                true => Task::new(lock.lock_async_until(far())),
                false => Task::new(async {
                    lock.lock_async().await;
                    Ok(())
                }),
            };
            assert!(task.poll().is_pending());
            Actor::Waiting(task)
        });
        Self { lock, actors: actors.collect(), drops_left, barges_left: 1, barged_in: true }
    }

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
                Actor::Holding => ops.push(Op::Unlock(index)),
                Actor::Gone => {}
            }
        }
        if self.barged_in {
            ops.push(Op::BargeOut);
        } else if self.barges_left > 0 && !self.lock.is_locked() {
            ops.push(Op::BargeIn);
        }
        ops
    }

    fn perform(&mut self, op: Op) {
        match op {
            Op::Poll(index) => {
                let Actor::Waiting(task) = &mut self.actors[index] else { unreachable!("it was waiting") };
                if let Poll::Ready(result) = task.poll() {
                    result.unwrap();
                    assert!(!self.barged_in);
                    assert!(!self.actors.iter().any(|actor| matches!(actor, Actor::Holding)), "two hold it");
                    self.actors[index] = Actor::Holding;
                }
            }
            Op::Drop(index) => {
                self.drops_left -= 1;
                self.actors[index] = Actor::Gone;
            }
            Op::Unlock(index) => {
                self.lock.unlock().unwrap();
                self.actors[index] = Actor::Gone;
            }
            Op::BargeIn => {
                self.barges_left -= 1;
                self.barged_in = self.lock.try_lock();
                assert!(self.barged_in);
            }
            Op::BargeOut => {
                self.lock.unlock().unwrap();
                self.barged_in = false;
            }
        }
    }
}

/// Depth first; a schedule is replayed from the beginning for each of its continuations.
fn explore(timed: &[bool], drops: usize) -> usize {
    let mut schedules = 0;
    let mut unexplored: Vec<Vec<Op>> = vec![Vec::new()];
    while let Some(schedule) = unexplored.pop() {
        let lock = AsyncLock::new();
        let mut world = World::new(&lock, timed, drops);
        // A machine so slow that somebody looked for itself would lead elsewhere than the last time.
        let same = schedule.iter().all(|&op| {
            let possible = world.possible().contains(&op);
            if possible {
                world.perform(op);
            }
            possible
        });
        if !same {
            continue;
        }
        let possible = world.possible();
        for &op in &possible {
            // The choice not to drop or to barge in is made by doing something else.
            unexplored.push(schedule.iter().copied().chain([op]).collect());
        }
        let optional = |op: &Op| matches!(op, Op::Drop(_) | Op::BargeIn);
        if possible.iter().all(optional) {
            schedules += 1;
            let lost = world.actors.iter().position(|actor| !matches!(actor, Actor::Gone));
            assert_eq!(lost, None, "never called, after {schedule:?}");
            assert!(!lock.is_locked());
        }
    }
    schedules
}

#[test]
fn no_schedule_of_polls_and_drops_loses_a_wakeup() {
    let mut schedules = 0;
    for timed in [[false; 3], [true; 3], [false, true, false]] {
        schedules += explore(&timed, 2);
    }
    assert!(schedules > 1_000, "{schedules}");
    println!("{schedules} schedules");
}
