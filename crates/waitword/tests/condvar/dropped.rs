//! Futures of a condition variable dropped at every possible moment, in every order, while others wait for the condition or for
//! the mutex: the waiters that are left are notified, and get the mutex.
//!
//! Every schedule of the polls, drops, notifies and releases of a few tasks is run on the real locks. A task is polled only when
//! it has been woken. So a schedule fails that ends with the mutex free and a waiter in its queue, or with a waiter for the
//! condition and a notify that has ended no wait. (The watchdog would signal the waiters in the mutex's queue, but the
//! schedule does not wait for that.)

use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use waitword::{LockError, MutexGuard};

use crate::common::condvar::{Form, Room, WAYS, Way};
use crate::common::exclusive::Held;
use crate::common::{Task, schedules, until};

/// One step of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Poll(usize),
    Drop(usize),
    Release(usize),
    NotifyOne,
    NotifyAll,
    /// A barging acquirer takes the mutex, if it can be had.
    BargeIn,
    BargeOut,
}

enum Actor<'a> {
    Waiting(Task<'a, Held<'a>>),
    Holding(#[expect(dead_code, reason = "it is held")] Held<'a>),
    Gone,
}

struct World<'a> {
    room: &'a Room,
    /// Waiters for the condition, and behind them some for the mutex alone.
    actors: Vec<Actor<'a>>,
    drops_left: usize,
    notifies_left: usize,
    barges_left: usize,
    barger: Option<MutexGuard<'a, ()>>,
}

impl<'a> World<'a> {
    /// Some wait for the condition, in this order; a barger has the mutex; and others are queued for it.
    fn new(room: &'a Room, ways: &[Way], lockers: usize, [drops_left, notifies_left]: [usize; 2]) -> Self {
        let mut actors: Vec<_> = ways.iter().map(|&way| queued(Task::new(room.wait(way)))).collect();
        let barger = Some(room.mutex.lock());
        let lock = || queued(Task::new(async { Box::new(room.mutex.lock_async().await) as Held<'_> }));
        actors.extend((0..lockers).map(|_| lock()));
        let actors = actors.into_iter().map(Actor::Waiting).collect();
        Self { room, actors, drops_left, notifies_left, barges_left: 1, barger }
    }

    fn is_held(&self) -> bool {
        self.barger.is_some() || self.actors.iter().any(|actor| matches!(actor, Actor::Holding(_)))
    }

    fn waiting(&self) -> usize {
        self.actors.iter().filter(|actor| matches!(actor, Actor::Waiting(_))).count()
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
                Actor::Holding(_) => ops.push(Op::Release(index)),
                Actor::Gone => {}
            }
        }
        if self.notifies_left > 0 && self.room.waiters() > 0 {
            ops.push(Op::NotifyOne);
            ops.push(Op::NotifyAll);
        }
        if self.barger.is_some() {
            ops.push(Op::BargeOut);
        } else if self.barges_left > 0 && !self.is_held() {
            ops.push(Op::BargeIn);
        }
        ops
    }

    fn perform(&mut self, op: Op) {
        match op {
            Op::Poll(index) => {
                let is_held = self.is_held();
                let Actor::Waiting(task) = &mut self.actors[index] else { unreachable!("it was waiting") };
                if let Poll::Ready(held) = task.poll() {
                    assert!(!is_held, "two hold it");
                    self.actors[index] = Actor::Holding(held);
                }
            }
            Op::Drop(index) => {
                self.drops_left -= 1;
                self.actors[index] = Actor::Gone;
            }
            Op::Release(index) => self.actors[index] = Actor::Gone,
            Op::NotifyOne => {
                self.notifies_left -= 1;
                self.room.notify_one();
            }
            Op::NotifyAll => {
                self.notifies_left -= 1;
                self.room.notify_all();
            }
            Op::BargeIn => {
                self.barges_left -= 1;
                // It may be reserved for the waiters.
                self.barger = self.room.mutex.try_lock();
            }
            Op::BargeOut => self.barger = None,
        }
    }

    fn is_stuck(&self) -> bool {
        self.room.waiters_for_mutex() > 0
    }

    fn is_optional(op: Op) -> bool {
        matches!(op, Op::Drop(_) | Op::NotifyOne | Op::NotifyAll | Op::BargeIn)
    }
}

fn explore(ways: &[Way], lockers: usize, drops_and_notifies: [usize; 2]) -> usize {
    schedules::explore(|schedule| {
        let room = Room::default();
        let mut world = World::new(&room, ways, lockers, drops_and_notifies);
        if schedule.ends(&mut world) {
            let ops = &schedule.ops;
            assert_eq!(room.waiters_for_mutex(), 0, "never signalled, after {ops:?}");
            assert!(room.mutex.try_lock().is_some(), "it is free, after {ops:?}");
            assert_eq!(room.waiters(), world.waiting(), "neither here nor there, after {ops:?}");
            let is_lost = room.tokens() > 0 && room.waiters() > 0;
            assert!(!is_lost, "a notify is lost, after {ops:?}");
        }
    })
}

/// Tasks only, all schedules.
#[test]
fn no_schedule_of_polls_notifies_and_drops_loses_a_notify_or_the_mutex() {
    let mut schedules = 0;
    for way in WAYS {
        schedules += explore(&[way], 1, [1, 1]);
        schedules += explore(&[way; 2], 0, [1, 1]);
    }
    let [once, .., owned_until, owned_while, _] = WAYS;
    schedules += explore(&[owned_while, once], 0, [2, 2]);
    schedules += explore(&[once, owned_until, owned_while], 0, [2, 1]);
    schedules += explore(&[owned_until, owned_while], 1, [1, 1]);
    assert!(schedules > 10_000, "{schedules}");
}

/// When a future is dropped, with a thread behind it in the queue of the condition, and one in the queue of the mutex.
#[derive(Clone, Copy, Debug)]
enum Moment {
    Queued,
    /// Moved behind the thread in the queue of the mutex.
    Moved,
    /// Moved, and signalled as the head waiter there.
    Signalled,
    /// Signalled, and polled in vain because the mutex was held.
    Barged,
    /// The same, and signalled again, by the release.
    SignalledAgain,
    Holding,
}

#[test]
fn threads_behind_a_wait_dropped_at_any_moment_get_its_notify_and_the_mutex() {
    use Moment::*;
    for moment in [Queued, Moved, Signalled, Barged, SignalledAgain, Holding] {
        for way in WAYS {
            let room = Room::default();
            let mut task = queued(Task::new(room.wait(way)));
            thread::scope(|scope| {
                scope.spawn(|| room.block());
                until(|| room.waiters() == 2);
                let held = room.mutex.lock();
                let locks = || {
                    let before = room.waiters_for_mutex();
                    scope.spawn(|| drop(room.mutex.lock()));
                    until(|| room.waiters_for_mutex() == before + 1);
                };
                match moment {
                    Queued => {
                        locks();
                        drop(task);
                        assert_eq!(room.notify_one(), 1);
                        drop(held);
                    }
                    Moved => {
                        locks();
                        assert_eq!(room.notify_one(), 1);
                        assert!(!task.is_woken());
                        drop(task);
                        drop(held);
                    }
                    Signalled => {
                        assert_eq!(room.notify_one(), 1);
                        assert!(task.is_woken());
                        locks();
                        drop(task);
                        drop(held);
                    }
                    Barged => {
                        assert_eq!(room.notify_one(), 1);
                        assert!(task.poll().is_pending());
                        locks();
                        drop(task);
                        drop(held);
                    }
                    SignalledAgain => {
                        assert_eq!(room.notify_one(), 1);
                        assert!(task.poll().is_pending());
                        locks();
                        drop(held);
                        until(|| task.is_woken());
                        drop(task);
                    }
                    Holding => {
                        assert_eq!(room.notify_one(), 1);
                        locks();
                        drop(held);
                        drop(task.finish());
                        assert_eq!(room.notify_one(), 1);
                    }
                }
            });
            assert_eq!(room.tokens(), 0, "{moment:?} {way:?}");
            room.assert_left();
        }
    }
}

/// No waiter is there to be notified in its place, but the mutex still has to go to the next in its queue.
#[test]
fn a_thread_queued_for_the_mutex_gets_it_when_a_signalled_wait_is_dropped() {
    for way in WAYS {
        for release_first in [false, true] {
            let room = Room::default();
            let mut task = queued(Task::new(room.wait(way)));
            let held = room.mutex.lock();
            assert_eq!(room.notify_one(), 1);
            assert!(task.poll().is_pending());
            thread::scope(|scope| {
                scope.spawn(|| drop(room.mutex.lock()));
                until(|| room.waiters_for_mutex() == 2);
                if release_first {
                    drop(held);
                    until(|| task.is_woken());
                    drop(task);
                } else {
                    drop(task);
                    drop(held);
                }
            });
            room.assert_left();
        }
    }
}

#[test]
fn a_wait_dropped_before_its_first_poll_releases_the_mutex() {
    fn dropped(room: &Room, make: impl FnOnce()) {
        make();
        room.assert_left();
    }
    let room = Room::default();
    let far = crate::common::far();
    dropped(&room, || drop(room.changed.wait_async(room.mutex.lock())));
    dropped(&room, || drop(room.changed.wait_async_until(room.mutex.lock_owned(), far)));
    dropped(&room, || drop(room.changed.wait_while_async(room.mutex.lock(), |()| true)));
    dropped(&room, || drop(room.changed.wait_while_async_until(room.mutex.lock_owned(), far, |()| true)));
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
        for form in [Form::Until, Form::WhileUntil] {
            let room = Room::default();
            let deadline = Instant::now() + Duration::from_millis(2);
            let mut task = Task::new(async {
                let guard = room.mutex.lock_async().await;
                match form {
                    Form::WhileUntil => room.changed.wait_while_async_until(guard, deadline, |()| true).await,
                    _ => room.changed.wait_async_until(guard, deadline).await,
                }
            });
            // On a machine so slow, it has been up before.
            if let Poll::Ready((_, result)) = task.poll() {
                assert_eq!(result, Err(LockError::TIMED_OUT));
                continue;
            }
            let behind = queued(Task::new(room.wait(WAYS[0])));
            let held = room.mutex.lock();
            if matches!(late, Notified) {
                assert_eq!(room.notify_one(), 1);
            }
            until(|| Instant::now() > deadline);
            if !matches!(late, Unpolled) {
                assert!(task.poll().is_pending(), "the mutex is held");
            }
            let locks = queued(Task::new(room.mutex.lock_async()));
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
            room.assert_left();
        }
    }
}

/// Polled once.
fn queued<T>(mut task: Task<'_, T>) -> Task<'_, T> {
    assert!(task.poll().is_pending());
    task
}
