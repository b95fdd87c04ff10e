//! Futures of a condition variable that are not polled (Oxide RFD 609): they keep the notify that has counted them, until they are polled
//! or dropped; and later ones go to the others. What holds when all are moved to the mutex's queue is in `tests/laws/unpolled.rs`.
//!
//! None of these tests measures time. Each would hang if an unpolled future could keep the mutex or a later notify from the
//! others.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use waitword::LockError;

use crate::common::law::Row;
use crate::common::{Task, block_on, poll, until};
use crate::rows::{Room, condvar};

/// What an unpolled future keeps: the one notify that has counted it. Those that come later go to the others; and it
/// goes on when the future is dropped.
#[test]
fn a_notify_of_one_stays_with_the_unpolled_future_that_it_went_to_and_later_ones_do_not() {
    let row = condvar();
    for way in row.tasks() {
        let room = Arc::<Room>::default();
        let unpolled = way.queued(&room);
        let [second, mut third] = [way; 2].map(|way| way.queued(&room));
        assert_eq!(room.notify_one(), 1);
        // Behind it: when this has had the mutex, the stall timeout of `unpolled` is over.
        block_on(async { drop(room.mutex.lock_async().await) });
        drop(room.mutex.lock());
        assert_eq!(room.waiters(), 2, "the notify stays with the waiter that it counted");
        assert!(!second.is_woken() && !third.is_woken());
        assert_eq!(room.notify_one(), 1);
        drop(second.finish());
        assert!(third.poll().is_pending(), "two were notified");
        drop(unpolled);
        drop(third.finish());
        assert_eq!(room.tokens(), 0);
        row.assert_free(&room);
    }
}

/// It has had its turn in the queue of the mutex, found that another had barged, and is not polled any more from then on.
#[test]
fn waiters_behind_a_wait_that_has_rechecked_in_vain() {
    let row = condvar();
    for way in row.tasks() {
        let room = Arc::<Room>::default();
        let mut unpolled = way.queued(&room);
        let behind = way.queued(&room);
        let barged_in = room.mutex.lock();
        assert_eq!(room.notify_all(), 2);
        assert!(unpolled.is_woken() && unpolled.poll().is_pending());
        thread::scope(|scope| {
            scope.spawn(|| drop(room.mutex.lock()));
            until(|| room.waiters_for_mutex() == 3);
            drop(barged_in);
        });
        drop(behind.finish());
        drop(unpolled.finish());
        row.assert_free(&room);
    }
}

/// Its time was up, so that it wants nothing but the mutex; and it is not polled any more.
#[test]
fn those_behind_a_wait_whose_time_was_up() {
    let (row, room) = (condvar(), Arc::<Room>::default());
    let (mut unpolled, deadline) = Task::queued_until(Duration::from_millis(1), |deadline| {
        room.changed.wait_async(room.mutex.lock()).deadline(deadline)
    });
    let behind = row.tasks()[0].queued(&room);
    let held = room.mutex.lock();
    until(|| Instant::now() > deadline);
    assert!(unpolled.poll().is_pending(), "the mutex is held");
    assert_eq!(room.notify_all(), 1, "it has left the queue of the condition");
    drop(held);
    thread::scope(|scope| {
        scope.spawn(|| drop(room.mutex.lock()));
        drop(behind.finish());
    });
    let (guard, result) = unpolled.finish();
    drop(guard);
    assert_eq!(result, Err(LockError::TimedOut));
    row.assert_free(&room);
}

/// A future that is leaked while it is queued is never polled again, and never leaves. The first notify after it is lost with it.
#[test]
fn a_leaked_wait_keeps_one_notify_and_nothing_else() {
    let row: &'static Row<Room> = Box::leak(Box::new(condvar()));
    for way in row.tasks() {
        let room: &'static Arc<Room> = Box::leak(Box::default());
        let mut leaked = way.wait(room);
        assert!(poll(leaked.as_mut()).is_pending());
        std::mem::forget(leaked);
        let thread = thread::spawn(|| row.block(room));
        // The thread is queued before it has released the mutex.
        until(|| room.waiters() == 2 && !room.mutex.is_locked());
        let task = way.queued(room);
        assert_eq!(room.notify_one(), 1);
        assert_eq!(room.notify_one(), 1);
        thread.join().unwrap();
        drop(room.mutex.lock());
        assert_eq!(room.notify_all(), 1);
        drop(task.finish());
        row.assert_free(room);
    }
}
