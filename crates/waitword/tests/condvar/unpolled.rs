//! Futures of a condition variable that are not polled (Oxide RFD 609). A notify of all moves them to the mutex's queue, where they are
//! signalled: they do not respond, and the others get the mutex, and the notifies that count them, all the same.
//!
//! What it keeps is the notify that has counted it, until it is polled or dropped.
//!
//! None of these tests measures time. Each would hang if an unpolled future could keep the mutex or a later notify from the
//! others.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use waitword::{LockError, Mutex};

use crate::common::exclusive::{Held, Waiting};
use crate::common::unpolled::{Queue, unpolled_futures_keep_no_other_from_the_lock};
use crate::common::{Task, block_on, poll, until};
use crate::room::{Room, WAYS, Way};

/// Without the tests of attempts, for which only the mutex matters.
macro_rules! notified {
    ($($module:ident: $Notified:ty;)+) => {$(
        mod $module {
            super::unpolled_futures_keep_no_other_from_the_lock!(waiters $Notified);
            super::unpolled_futures_keep_no_other_from_the_lock!(position $Notified);
        }
    )+};
}

notified! {
    notified_while_the_mutex_is_held: super::Notified<true>;
    notified_while_the_mutex_is_free: super::Notified<false>;
}

/// Waits for the condition, and is moved to the mutex's queue by a notify of all.
#[derive(Default)]
struct Notified<const MUTEX_IS_HELD: bool>(Room);

impl<const MUTEX_IS_HELD: bool> Queue for Notified<MUTEX_IS_HELD> {
    type Lock = Mutex<()>;
    type Way = Way;
    const WAYS: &'static [Way] = &WAYS;

    fn free() -> Arc<Self> {
        Arc::default()
    }

    fn the_lock(self: &Arc<Self>) -> &Arc<Mutex<()>> {
        &self.0.mutex
    }

    /// A wait for the condition waits for a notify anyway.
    fn hold(&self) -> Option<Held<'_>> {
        None
    }

    fn notify(&self) {
        let held = MUTEX_IS_HELD.then(|| self.0.mutex.lock());
        self.0.notify_all();
        drop(held);
    }

    fn wait(self: &Arc<Self>, way: Way) -> Waiting<'_> {
        self.0.wait(way)
    }

    fn block(&self) {
        self.0.block();
    }

    fn waiters(&self) -> usize {
        self.0.waiters()
    }
}

/// What an unpolled future keeps: the one notify that has counted it. Those that come later go to the others; and it
/// goes on when the future is dropped.
#[test]
fn a_notify_of_one_stays_with_the_unpolled_future_that_it_went_to_and_later_ones_do_not() {
    for way in WAYS {
        let room = Room::default();
        let unpolled = room.queued(way);
        let [second, mut third] = [way; 2].map(|way| room.queued(way));
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
        room.assert_left();
    }
}

/// It has had its turn in the queue of the mutex, found that another had barged, and is not polled any more from then on.
#[test]
fn waiters_behind_a_wait_that_has_rechecked_in_vain() {
    for way in WAYS {
        let room = Room::default();
        let mut unpolled = room.queued(way);
        let behind = room.queued(way);
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
        room.assert_left();
    }
}

/// Its time was up, so that it wants nothing but the mutex; and it is not polled any more.
#[test]
fn those_behind_a_wait_whose_time_was_up() {
    let room = Room::default();
    let (mut unpolled, deadline) = Task::queued_until(Duration::from_millis(1), |deadline| {
        room.changed.wait_async(room.mutex.lock()).deadline(deadline)
    });
    let behind = room.queued(WAYS[0]);
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
    room.assert_left();
}

/// A future that is leaked while it is queued is never polled again, and never leaves. The first notify after it is lost with it.
#[test]
fn a_leaked_wait_keeps_one_notify_and_nothing_else() {
    for way in WAYS {
        let room: &'static Room = Box::leak(Box::default());
        let mut leaked = room.wait(way);
        assert!(poll(leaked.as_mut()).is_pending());
        std::mem::forget(leaked);
        let thread = thread::spawn(|| room.block());
        // The thread is queued before it has released the mutex.
        until(|| room.waiters() == 2 && !room.mutex.is_locked());
        let task = room.queued(way);
        assert_eq!(room.notify_one(), 1);
        assert_eq!(room.notify_one(), 1);
        thread.join().unwrap();
        drop(room.mutex.lock());
        assert_eq!(room.notify_all(), 1);
        drop(task.finish());
        room.assert_left();
    }
}
