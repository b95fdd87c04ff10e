//! Futures of a condition variable that are not polled (Oxide RFD 609). One that is notified is moved to the mutex's queue, and is
//! signalled there: it does not respond, and the others get the mutex, and the notifies that count them, all the same.
//!
//! What it keeps is the notify that has counted it, until it is polled or dropped.
//!
//! None of these tests measures time. Each would hang if an unpolled future could keep the mutex or a later notify from the
//! others.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use futures_util::stream::{self, FuturesUnordered, StreamExt};
use waitword::{LockError, STALL_TIMEOUT};

use crate::common::condvar::{Room, WAYS, Way};
use crate::common::exclusive::Waiting;
use crate::common::{Task, block_on, far, until};

/// The shape of the report: one branch of a `select!` waits for the condition, another wins and, in its handler, notifies it and
/// wants the mutex, while the first is alive and not polled.
#[test]
fn select_whose_handler_wants_the_mutex_that_an_unpolled_branch_was_notified_for() {
    async fn body(room: Arc<Room>, way: Way) {
        let mut first = pin!(room.wait(way));
        tokio::select! {
            biased;
            _ = &mut first => unreachable!("it was not notified"),
            () = tokio::task::yield_now() => {
                let held = room.mutex.lock_async().await;
                assert_eq!(room.notify_one(), 1);
                // `first` is queued for the mutex, and this waits behind it.
                let mut second = pin!(room.mutex.lock_async());
                assert!(poll_once(second.as_mut()).await.is_pending());
                drop(held);
                drop(second.await);
                drop(room.mutex.lock_async().await);
            }
        }
        drop(first.await);
        room.assert_left();
    }
    for way in WAYS {
        let current = tokio::runtime::Builder::new_current_thread().build().unwrap();
        current.block_on(body(Arc::default(), way));
        let multi = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
        multi.block_on(async { tokio::spawn(body(Arc::default(), way)).await.unwrap() });
        smol::future::block_on(body(Arc::default(), way));
    }
}

#[test]
fn a_set_of_waits_that_is_not_polled_meanwhile() {
    let room = Room::default();
    block_on(async {
        let mut set: FuturesUnordered<_> = WAYS.map(|way| room.wait(way)).into_iter().collect();
        assert!(poll_once(pin!(set.next())).await.is_pending());
        let held = room.mutex.lock();
        assert_eq!(room.notify_all(), WAYS.len());
        drop(held);
        for _ in 0..3 {
            // The set is not polled while this waits.
            drop(room.mutex.lock_async().await);
        }
        let mut ended = 0;
        while let Some(held) = set.next().await {
            drop(held);
            // Some of the set have been signalled, and are not polled here.
            drop(room.mutex.lock_async().await);
            ended += 1;
        }
        assert_eq!(ended, WAYS.len());
    });
    room.assert_left();
}

#[test]
fn a_stream_that_buffers_waits_while_its_body_wants_the_mutex() {
    let room = Room::default();
    block_on(async {
        let work = stream::iter(0..12).map(async |turn| {
            drop(room.wait(WAYS[turn % WAYS.len()]).await);
            turn
        });
        let mut work = pin!(work.buffered(4));
        assert!(poll_once(pin!(work.next())).await.is_pending());
        assert_eq!(room.notify_all(), 4);
        let mut turns = Vec::new();
        while let Some(turn) = work.next().await {
            turns.push(turn);
            // The buffered ones are queued for the mutex, and wait until this is over.
            drop(room.mutex.lock_async().await);
            room.notify_all();
        }
        assert_eq!(turns, (0..12).collect::<Vec<_>>());
    });
    room.assert_left();
}

#[test]
fn a_wait_notified_and_polled_later_has_kept_its_position() {
    for way in WAYS {
        let room = Room::default();
        let mut stored = queued(&room, way);
        assert_eq!(room.notify_one(), 1);
        // Others come, wait and go. The stored future has been signalled.
        for _ in 0..2 {
            drop(block_on(room.mutex.lock_async()));
            drop(room.mutex.lock());
        }
        let held = room.mutex.lock();
        let mut behind = Task::new(room.mutex.lock_async());
        assert!(stored.poll().is_pending());
        assert!(behind.poll().is_pending());
        let released = Instant::now();
        drop(held);
        let behind_is_woken = behind.is_woken();
        // On a slow machine the watchdog may have signalled the other, too.
        if released.elapsed() < STALL_TIMEOUT {
            assert!(stored.is_woken() && !behind_is_woken, "the place was lost");
        }
        drop(stored.finish());
        drop(behind.finish());
        room.assert_left();
    }
}

/// Behind them in the mutex's queue, where each got in by itself; and moved there behind them, from the queue of the condition.
#[test]
fn threads_behind_unpolled_waits() {
    for unpolled in 1..4 {
        let room = Room::default();
        let futures: Vec<_> = WAYS.into_iter().take(unpolled).map(|way| queued(&room, way)).collect();
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| room.block());
            }
            until(|| room.waiters() == unpolled + 2);
            let held = room.mutex.lock();
            assert_eq!(room.notify_all(), unpolled + 2);
            for _ in 0..2 {
                scope.spawn(|| {
                    drop(room.mutex.lock());
                    drop(room.mutex.lock_until(far()).unwrap());
                });
            }
            until(|| room.waiters_for_mutex() == unpolled + 4);
            drop(held);
        });
        // Their notifies do no harm when they go.
        drop(futures);
        assert_eq!(room.tokens(), unpolled, "there was no waiter to forward it to");
        room.assert_left();
    }
}

/// The same with the mutex free when they are notified.
#[test]
fn tasks_behind_unpolled_waits() {
    for way in WAYS {
        let room = Room::default();
        let unpolled = queued(&room, way);
        let behind = WAYS.map(|way| queued(&room, way));
        assert_eq!(room.notify_all(), 1 + WAYS.len());
        assert!(unpolled.is_woken());
        assert!(!behind.iter().any(Task::is_woken));
        for task in behind {
            // Each is signalled without `unpolled` being polled.
            drop(task.finish());
        }
        drop(unpolled.finish());
        room.assert_left();
    }
}

/// What an unpolled future keeps: the one notify that has counted it. Those that come later go to the others; and it
/// goes on when the future is dropped.
#[test]
fn a_notify_of_one_stays_with_the_unpolled_future_that_it_went_to_and_later_ones_do_not() {
    for way in WAYS {
        let room = Room::default();
        let unpolled = queued(&room, way);
        let [second, mut third] = [way, way].map(|way| queued(&room, way));
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
        let mut unpolled = queued(&room, way);
        let behind = queued(&room, way);
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
    let deadline = Instant::now() + Duration::from_millis(1);
    let mut unpolled =
        Task::new(async { room.changed.wait_async_until(room.mutex.lock_async().await, deadline).await });
    // On a machine so slow, it has been up before.
    if let Poll::Ready((_, result)) = unpolled.poll() {
        return assert_eq!(result, Err(LockError::TIMED_OUT));
    }
    let behind = queued(&room, WAYS[0]);
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
    assert_eq!(result, Err(LockError::TIMED_OUT));
    room.assert_left();
}

/// A future that is leaked while it is queued is never polled again, and never leaves. The first notify after it is lost with it.
#[test]
fn a_leaked_wait_keeps_one_notify_and_nothing_else() {
    for way in WAYS {
        let room: &'static Room = Box::leak(Box::default());
        let mut leaked: Waiting<'_> = room.wait(way);
        assert!(block_on(poll_once(leaked.as_mut())).is_pending());
        std::mem::forget(leaked);
        let thread = thread::spawn(|| room.block());
        until(|| room.waiters() == 2);
        let task = queued(room, way);
        assert_eq!(room.notify_one(), 1);
        assert_eq!(room.notify_one(), 1);
        thread.join().unwrap();
        drop(room.mutex.lock());
        assert_eq!(room.notify_all(), 1);
        drop(task.finish());
        assert_eq!((room.waiters(), room.waiters_for_mutex()), (0, 1));
        assert!(room.mutex.try_lock().is_some());
    }
}

/// A wait that was polled once.
fn queued(room: &Room, way: Way) -> Task<'_, crate::common::exclusive::Held<'_>> {
    let mut wait = Task::new(room.wait(way));
    assert!(wait.poll().is_pending());
    wait
}

async fn poll_once<F: Future + ?Sized>(mut future: Pin<&mut F>) -> Poll<F::Output> {
    poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await
}
