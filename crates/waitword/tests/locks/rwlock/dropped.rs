//! Futures of a readers-writer lock dropped at every possible moment, in every order: the waiters that are left
//! are signalled.

use waitword::{RwLock, RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard};

use crate::common::schedules::{self, Actor, Actors, Step};
use crate::common::{Task, far};

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Other {
    Downgrade(usize),
    Upgrade(usize),
    /// A barging acquirer gets in, if there is room.
    BargeIn,
}

struct World<'a> {
    lock: &'a RwLock<()>,
    changes_left: usize,
    barges_left: usize,
}

impl<'a> schedules::World<'a> for World<'a> {
    type Guard = Guard<'a>;
    type Other = Other;

    fn others(&self, actors: &Actors<'a, Guard<'a>>) -> Vec<Other> {
        let change = |(index, actor): (usize, &Actor<'a, Guard<'a>>)| match actor {
            Actor::Holding(Guard::Write(_)) => Some(Other::Downgrade(index)),
            Actor::Holding(Guard::Upgradable(_)) => Some(Other::Upgrade(index)),
            _ => None,
        };
        let can_change = if self.changes_left > 0 { actors.all.as_slice() } else { &[] };
        let barge_in = (self.barges_left > 0).then_some(Other::BargeIn);
        can_change.iter().enumerate().filter_map(change).chain(barge_in).collect()
    }

    fn perform(&mut self, other: Other, actors: &mut Actors<'a, Guard<'a>>) {
        match other {
            Other::Downgrade(index) => {
                self.changes_left -= 1;
                let Guard::Write(guard) = actors.take(index) else { unreachable!("it wrote") };
                actors.all[index] = Actor::Holding(match self.changes_left {
                    0 => Guard::Read(RwLockWriteGuard::downgrade(guard)),
                    _ => Guard::Upgradable(RwLockWriteGuard::downgrade_to_upgradable(guard)),
                });
            }
            Other::Upgrade(index) => {
                self.changes_left -= 1;
                let Guard::Upgradable(guard) = actors.take(index) else { unreachable!("it could upgrade") };
                let upgrade = RwLockUpgradableReadGuard::upgrade_async(guard);
                actors.enqueue(Task::new(async { Guard::Write(upgrade.await) }));
            }
            Other::BargeIn => {
                self.barges_left -= 1;
                actors.all.extend(self.lock.try_read().map(|guard| Actor::Holding(Guard::Read(guard))));
            }
        }
    }

    fn is_optional(other: Other) -> bool {
        other == Other::BargeIn
    }

    /// Writers are alone, and no two can upgrade.
    fn check(&mut self, _: Step<Other>, actors: &mut Actors<'a, Guard<'a>>) {
        let count = |is: fn(&Guard<'_>) -> bool| actors.held().filter(|guard| is(guard)).count();
        let (all, writers) = (count(|_| true), count(|guard| matches!(guard, Guard::Write(_))));
        assert!(writers == 0 || all == 1, "{writers} writers among {all}");
        assert!(count(|guard| matches!(guard, Guard::Upgradable(_))) <= 1);
    }
}

/// All are queued behind the holder.
fn explore(kinds: &[Kind], holder: Kind, (changes_left, barges_left): (usize, usize)) -> usize {
    schedules::explore(|schedule| {
        let lock = RwLock::new(());
        let mut world = World { lock: &lock, changes_left, barges_left };
        let mut actors = Actors::new(1);
        for &kind in [holder].iter().chain(kinds) {
            let lock = &lock;
            actors.enqueue(Task::new(async move {
                match kind {
                    Read => Guard::Read(lock.read_async().await),
                    ReadUntil => Guard::Read(lock.read_async().deadline(far()).await.unwrap()),
                    Write => Guard::Write(lock.write_async().await),
                    WriteUntil => Guard::Write(lock.write_async().deadline(far()).await.unwrap()),
                    Upgradable => Guard::Upgradable(lock.upgradable_read_async().await),
                }
            }));
        }
        if schedule.ends(&mut world, &mut actors) {
            let steps = &schedule.steps;
            assert!(!actors.is_any_left(), "never signalled, after {steps:?} of {kinds:?} behind {holder:?}");
            assert!(!lock.is_locked());
            let state = format!("{lock:?}");
            assert!(lock.try_write().is_some(), "{state} after {steps:?}");
        }
    })
}

/// `budgets` are how many guards may change, and how many readers may barge in.
fn no_schedule_loses_a_wakeup(holder: Kind, budgets: &[(usize, usize)]) {
    let kinds = [
        [Write, Read, Read],
        [Read, WriteUntil, Read],
        [ReadUntil, Upgradable, Write],
        [Upgradable, Upgradable, Read],
    ];
    let each =
        kinds.iter().flat_map(|kinds| budgets.iter().map(move |&budget| explore(kinds, holder, budget)));
    let schedules: usize = each.sum();
    assert!(schedules > 1_000, "{schedules}");
}

#[test]
fn no_schedule_of_polls_and_drops_behind_a_reader_loses_a_wakeup() {
    no_schedule_loses_a_wakeup(Read, &[(2, 1)]);
}

#[test]
fn no_schedule_of_polls_and_drops_behind_an_upgradable_reader_loses_a_wakeup() {
    no_schedule_loses_a_wakeup(Upgradable, &[(2, 1)]);
}

/// The most can happen behind a writer: either a second change or a barging reader.
#[test]
fn no_schedule_of_polls_and_drops_behind_a_writer_loses_a_wakeup() {
    no_schedule_loses_a_wakeup(Write, &[(2, 0), (1, 1)]);
}
