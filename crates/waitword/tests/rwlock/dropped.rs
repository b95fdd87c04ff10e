//! Futures of a readers-writer lock dropped at every possible moment, in every order: the waiters that are left
//! are signalled.
//!
//! Every schedule of the polls, drops and releases of a few tasks is run on the real lock. A task is polled only when it has
//! been woken, so that a schedule which ends with a task unfinished is a lost wakeup.

use std::task::Poll;

use waitword::{RwLock, RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard};

use crate::common::{Task, far, schedules};

/// What an actor waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Read,
    ReadUntil,
    Write,
    WriteUntil,
    Upgradable,
}

use Kind::{Read, ReadUntil, Upgradable, Write, WriteUntil};

enum Guard<'a> {
    Read(#[expect(dead_code, reason = "it is held")] RwLockReadGuard<'a, ()>),
    Upgradable(RwLockUpgradableReadGuard<'a, ()>),
    Write(RwLockWriteGuard<'a, ()>),
}

/// One step of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Poll(usize),
    Drop(usize),
    Release(usize),
    Downgrade(usize),
    Upgrade(usize),
    /// A barging acquirer gets in, if there is room.
    BargeIn,
}

enum Actor<'a> {
    Waiting(Task<'a, Guard<'a>>),
    Holding(Guard<'a>),
    Gone,
}

struct World<'a> {
    lock: &'a RwLock<()>,
    actors: Vec<Actor<'a>>,
    drops_left: usize,
    changes_left: usize,
    barges_left: usize,
}

impl<'a> World<'a> {
    /// All are queued behind the last one, which has the lock.
    fn new(lock: &'a RwLock<()>, kinds: &[Kind], holder: Kind, drops_left: usize) -> Self {
        let holder = match holder {
            Write | WriteUntil => Guard::Write(lock.write()),
            Upgradable => Guard::Upgradable(lock.upgradable_read()),
            Read | ReadUntil => Guard::Read(lock.read()),
        };
        let actors = kinds.iter().map(|&kind| {
            let mut task = Task::new(async move {
                match kind {
                    Read => Guard::Read(lock.read_async().await),
                    ReadUntil => Guard::Read(lock.read_async_until(far()).await.unwrap()),
                    Write => Guard::Write(lock.write_async().await),
                    WriteUntil => Guard::Write(lock.write_async_until(far()).await.unwrap()),
                    Upgradable => Guard::Upgradable(lock.upgradable_read_async().await),
                }
            });
            match task.poll() {
                Poll::Ready(guard) => Actor::Holding(guard),
                Poll::Pending => Actor::Waiting(task),
            }
        });
        let actors = actors.chain([Actor::Holding(holder)]).collect();
        Self { lock, actors, drops_left, changes_left: 2, barges_left: 1 }
    }
}

impl schedules::World for World<'_> {
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
                Actor::Holding(guard) => {
                    ops.push(Op::Release(index));
                    match guard {
                        _ if self.changes_left == 0 => {}
                        Guard::Read(_) => {}
                        Guard::Write(_) => ops.push(Op::Downgrade(index)),
                        Guard::Upgradable(_) => ops.push(Op::Upgrade(index)),
                    }
                }
                Actor::Gone => {}
            }
        }
        if self.barges_left > 0 {
            ops.push(Op::BargeIn);
        }
        ops
    }

    fn perform(&mut self, op: Op) {
        match op {
            Op::Poll(index) => {
                let Actor::Waiting(task) = &mut self.actors[index] else { unreachable!("it was waiting") };
                if let Poll::Ready(guard) = task.poll() {
                    self.actors[index] = Actor::Holding(guard);
                }
            }
            Op::Drop(index) => {
                self.drops_left -= 1;
                self.actors[index] = Actor::Gone;
            }
            Op::Release(index) => self.actors[index] = Actor::Gone,
            Op::Downgrade(index) => {
                self.changes_left -= 1;
                let Actor::Holding(Guard::Write(guard)) = self.take(index) else { unreachable!("it wrote") };
                self.actors[index] = Actor::Holding(match self.changes_left {
                    0 => Guard::Read(RwLockWriteGuard::downgrade(guard)),
                    _ => Guard::Upgradable(RwLockWriteGuard::downgrade_to_upgradable(guard)),
                });
            }
            Op::Upgrade(index) => {
                self.changes_left -= 1;
                let Actor::Holding(Guard::Upgradable(guard)) = self.take(index) else {
                    unreachable!("it could upgrade")
                };
                let upgrade = RwLockUpgradableReadGuard::upgrade_async(guard);
                let mut task = Task::new(async { Guard::Write(upgrade.await) });
                self.actors[index] = match task.poll() {
                    Poll::Ready(guard) => Actor::Holding(guard),
                    Poll::Pending => Actor::Waiting(task),
                };
            }
            Op::BargeIn => {
                self.barges_left -= 1;
                self.actors.extend(self.lock.try_read().map(|guard| Actor::Holding(Guard::Read(guard))));
            }
        }
        self.check();
    }

    fn is_stuck(&self) -> bool {
        self.actors.iter().any(|actor| !matches!(actor, Actor::Gone))
    }

    fn is_optional(op: Op) -> bool {
        matches!(op, Op::Drop(_) | Op::BargeIn)
    }
}

impl<'a> World<'a> {
    fn take(&mut self, index: usize) -> Actor<'a> {
        std::mem::replace(&mut self.actors[index], Actor::Gone)
    }

    /// Writers are alone, and no two can upgrade.
    fn check(&self) {
        let count = |is: fn(&Guard<'_>) -> bool| {
            self.actors.iter().filter(|actor| matches!(actor, Actor::Holding(guard) if is(guard))).count()
        };
        let (all, writers) = (count(|_| true), count(|guard| matches!(guard, Guard::Write(_))));
        assert!(writers == 0 || all == 1, "{writers} writers among {all}");
        assert!(count(|guard| matches!(guard, Guard::Upgradable(_))) <= 1);
    }
}

fn explore(kinds: &[Kind], holder: Kind, drops: usize) -> usize {
    schedules::explore(|schedule| {
        let lock = RwLock::new(());
        let mut world = World::new(&lock, kinds, holder, drops);
        if schedule.ends(&mut world) {
            let ops = &schedule.ops;
            let lost = world.actors.iter().position(|actor| !matches!(actor, Actor::Gone));
            assert_eq!(lost, None, "never signalled, after {ops:?} of {kinds:?} behind {holder:?}");
            drop(world);
            assert!(!lock.is_locked());
            let state = format!("{lock:?}");
            assert!(lock.try_write().is_some(), "{state} after {ops:?}");
        }
    })
}

#[test]
fn no_schedule_of_polls_and_drops_loses_a_wakeup() {
    let mut schedules = 0;
    for holder in [Read, Write, Upgradable] {
        for kinds in [
            [Write, Read, Read],
            [Read, WriteUntil, Read],
            [ReadUntil, Upgradable, Write],
            [Upgradable, Upgradable, Read],
        ] {
            schedules += explore(&kinds, holder, 1);
        }
    }
    assert!(schedules > 1_000, "{schedules}");
}
