//! Futures of a condition variable dropped at every possible moment, in every order, while others wait for the condition or for
//! the mutex: the waiters that are left are notified, and get the mutex.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::law::{Held, Way, held};
use crate::common::schedules::{self, Actor, Actors, Step};
use crate::common::{Task, block_on, far, until};
use crate::rows::{Room, condvar};

struct World<'a> {
    room: &'a Arc<Room>,
    notifies_left: usize,
    barges_left: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Other {
    NotifyOne,
    NotifyAll,
    /// A barging acquirer takes the mutex, if it can be had: it may be reserved for the waiters.
    BargeIn,
}

impl<'a> schedules::World<'a> for World<'a> {
    type Guard = Held<'a>;
    type Other = Other;

    fn others(&self, actors: &Actors<'a, Held<'a>>) -> Vec<Other> {
        let mut others = Vec::new();
        if self.notifies_left > 0 && self.room.waiters() > 0 {
            others.extend([Other::NotifyOne, Other::NotifyAll]);
        }
        if self.barges_left > 0 && actors.held().next().is_none() {
            others.push(Other::BargeIn);
        }
        others
    }

    fn perform(&mut self, other: Other, actors: &mut Actors<'a, Held<'a>>) {
        match other {
            Other::NotifyOne | Other::NotifyAll => {
                self.notifies_left -= 1;
                if other == Other::NotifyOne {
                    self.room.notify_one()
                } else {
                    self.room.notify_all()
                };
            }
            Other::BargeIn => {
                self.barges_left -= 1;
                actors.all.extend(self.room.mutex.try_lock().map(|guard| Actor::Holding(held(guard))));
            }
        }
    }

    fn check(&mut self, _: Step<Other>, actors: &mut Actors<'a, Held<'a>>) {
        assert!(actors.held().count() <= 1, "two hold it");
    }

    /// A waiter for the condition may be left.
    fn is_stuck(&self, _: &Actors<'a, Held<'a>>) -> bool {
        self.room.waiters_for_mutex() > 0
    }
}

/// Some wait for the condition, in this order; a barging acquirer has the mutex; and others are queued for it.
///
/// A schedule fails that ends with the mutex free and a waiter in its queue, or with a waiter for the condition and a notify that
/// has ended no wait.
fn explore(ways: &[&Way<Room>], lockers: usize, [drops, notifies]: [usize; 2]) -> usize {
    schedules::explore(|schedule| {
        let room = Arc::<Room>::default();
        let mut world = World { room: &room, notifies_left: notifies, barges_left: 1 };
        let mut actors = Actors::new(drops);
        ways.iter().for_each(|way| actors.enqueue(Task::new(way.wait(&room))));
        actors.all.push(Actor::Holding(held(room.mutex.lock())));
        let lock = || Task::new(async { held(room.mutex.lock_async().await) });
        (0..lockers).for_each(|_| actors.enqueue(lock()));
        assert_eq!(actors.waiting(), ways.len() + lockers);
        if schedule.ends(&mut world, &mut actors) {
            let steps = &schedule.steps;
            assert_eq!(room.waiters_for_mutex(), 0, "never signalled, after {steps:?}");
            assert!(!room.mutex.is_locked(), "after {steps:?}");
            assert_eq!(room.waiters(), actors.waiting(), "neither here nor there, after {steps:?}");
            let is_lost = room.tokens() > 0 && room.waiters() > 0;
            assert!(!is_lost, "a notify is lost, after {steps:?}");
        }
    })
}

/// Tasks only, all schedules.
#[test]
fn no_schedule_of_polls_notifies_and_drops_loses_a_notify_or_the_mutex() {
    let (mut schedules, row) = (0, condvar());
    let ways = row.tasks();
    for &way in &ways {
        schedules += explore(&[way], 1, [1, 1]);
        schedules += explore(&[way; 2], 0, [1, 1]);
    }
    let [once, .., owned_until, owned_while, _] = ways[..] else { unreachable!("there are more") };
    schedules += explore(&[owned_while, once], 0, [2, 2]);
    schedules += explore(&[once, owned_until, owned_while], 0, [2, 1]);
    schedules += explore(&[owned_until, owned_while], 1, [1, 1]);
    assert!(schedules > 10_000, "{schedules}");
}

/// When a future is dropped, with a thread behind it in the queue of the condition, and one in the queue of the mutex.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Moment {
    Queued,
    /// Notified, when the thread was queued for the mutex before.
    Behind,
    /// Notified, when nobody was queued for the mutex.
    Notified,
    /// The same, and polled in vain because the mutex was held.
    Barged,
    /// The same, and signalled by the release.
    Signalled,
    Holding,
}

/// Notified by itself; or with the thread, which locks the mutex, and moved.
#[test]
fn threads_behind_a_wait_dropped_at_any_moment_get_its_notify_and_the_mutex() {
    use Moment::*;
    let row = condvar();
    for (all, moment) in [false, true]
        .into_iter()
        .flat_map(|all| [Queued, Behind, Notified, Barged, Signalled, Holding].map(|moment| (all, moment)))
    {
        for way in row.tasks() {
            let room = Arc::<Room>::default();
            let mut task = way.queued(&room);
            thread::scope(|scope| {
                scope.spawn(|| row.block(&room));
                until(|| room.waiters() == 2);
                let held = room.mutex.lock();
                let locks = || {
                    let before = room.waiters_for_mutex();
                    scope.spawn(|| drop(room.mutex.lock()));
                    until(|| room.waiters_for_mutex() == before + 1);
                };
                if matches!(moment, Queued | Behind | Holding) {
                    locks();
                }
                if moment != Queued {
                    assert_eq!(if all { room.notify_all() } else { room.notify_one() }, 1 + usize::from(all));
                    let is_behind = matches!(moment, Behind | Holding);
                    until(|| !all || room.waiters_for_mutex() == 2 + usize::from(is_behind));
                    let is_moved_behind_another = all && is_behind;
                    assert_eq!(task.is_woken(), !is_moved_behind_another);
                }
                if matches!(moment, Barged | Signalled) {
                    assert!(task.poll().is_pending());
                }
                if matches!(moment, Notified | Barged | Signalled) {
                    locks();
                }
                match moment {
                    Signalled => {
                        drop(held);
                        until(|| task.is_woken());
                        drop(task);
                    }
                    Holding => {
                        drop(held);
                        drop(task.finish());
                        assert_eq!(room.notify_one(), usize::from(!all));
                    }
                    Queued => {
                        drop(task);
                        assert_eq!(room.notify_one(), 1);
                    }
                    Behind | Notified | Barged => drop(task),
                }
            });
            // Forwarded, or nobody was left for it.
            let left = all && !matches!(moment, Queued | Holding);
            assert_eq!(room.tokens(), usize::from(left), "{all} {moment:?} {}", way.name);
            row.assert_free(&room);
        }
    }
}

#[test]
fn a_wait_that_ends_before_it_is_queued_releases_the_mutex() {
    let (row, room, far) = (condvar(), Arc::<Room>::default(), far());
    let dropped = |room, make: &dyn Fn()| {
        make();
        row.assert_free(room);
    };
    dropped(&room, &|| drop(room.changed.wait_async(room.mutex.lock())));
    dropped(&room, &|| drop(room.changed.wait_async(room.mutex.lock_owned()).deadline(far)));
    dropped(&room, &|| drop(room.changed.wait_while_async(room.mutex.lock(), |()| true)));
    dropped(&room, &|| drop(room.changed.wait_while_async(room.mutex.lock_owned(), |()| true).deadline(far)));
    let is_over = || room.changed.wait_while_owned_async(room.mutex.lock_owned(), |()| false);
    dropped(&room, &|| drop(block_on(is_over())));
}

/// What a wait had got to when it is dropped, whose time is up meanwhile.
#[derive(Clone, Copy, Debug)]
enum Late {
    /// It does not know yet.
    Unpolled,
    /// It is queued for the mutex, to say so.
    Locking,
    /// The same, and it was signalled.
    Signalled,
    /// It was notified before, and has rechecked in vain since.
    Notified,
}

#[test]
fn those_behind_a_wait_dropped_after_its_time_was_up_get_the_notify_and_the_mutex() {
    use Late::*;
    for late in [Unpolled, Locking, Signalled, Notified] {
        for is_while in [false, true] {
            let (row, room) = (condvar(), Arc::<Room>::default());
            let (mut task, deadline) = Task::queued_until(Duration::from_millis(2), async |deadline| {
                let guard = room.mutex.lock();
                match is_while {
                    true => room.changed.wait_while_async(guard, |()| true).deadline(deadline).await,
                    false => room.changed.wait_async(guard).deadline(deadline).await,
                }
            });
            let behind = row.tasks()[0].queued(&room);
            let held = room.mutex.lock();
            if matches!(late, Notified) {
                assert_eq!(room.notify_one(), 1);
            }
            until(|| Instant::now() > deadline);
            if !matches!(late, Unpolled) {
                assert!(task.poll().is_pending(), "the mutex is held");
            }
            let locks = Task::queued(room.mutex.lock_async());
            if matches!(late, Signalled) {
                drop(held);
                until(|| task.is_woken());
                drop(task);
            } else {
                drop(task);
                drop(held);
            }
            if !matches!(late, Notified) {
                assert_eq!(room.notify_one(), 1, "{late:?}");
            }
            drop(locks.finish());
            drop(behind.finish());
            row.assert_free(&room);
        }
    }
}
