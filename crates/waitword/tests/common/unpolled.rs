//! Futures that are never polled (Oxide RFD 609): signalled, they do not respond, and the waiters behind them get the lock
//! all the same.
//!
//! None of these tests measures time. Each would hang if an unpolled future could keep the lock from the others.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use futures_util::stream::{self, FuturesUnordered, StreamExt};
use waitword::STALL_TIMEOUT;

use super::exclusive::{Exclusive, WAYS, Way};
use super::{Task, block_on, far, until};

/// All of them, for one lock.
macro_rules! unpolled_futures_keep_no_other_from_the_lock {
    ($Lock:ty) => {
        $crate::common::unpolled::unpolled_futures_keep_no_other_from_the_lock! { $Lock:
            select_whose_handler_wants_what_an_unpolled_branch_was_signalled_for,
            a_task_waits_behind_its_own_unpolled_future,
            a_set_of_futures_that_is_not_polled_meanwhile,
            a_stream_that_buffers_locks_while_its_body_wants_one,
            a_stream_that_buffers_locks_in_any_order,
            a_future_stored_and_polled_later_keeps_its_position,
            threads_behind_unpolled_futures,
            tasks_behind_unpolled_futures,
            a_leaked_future_keeps_no_other_from_the_lock,
            an_attempt_gets_past_an_unpolled_future,
            an_attempt_without_time_gets_past_an_unpolled_future,
        }
    };
    ($Lock:ty: $($test:ident),* $(,)?) => {$(
        #[test]
        fn $test() {
            $crate::common::unpolled::$test::<$Lock>();
        }
    )*};
}
pub(crate) use unpolled_futures_keep_no_other_from_the_lock;

/// The shape of the report: one branch of a `select!` waits for the lock, another wins and, in its handler, wants the
/// same lock, while the first is alive and not polled.
pub(crate) fn select_whose_handler_wants_what_an_unpolled_branch_was_signalled_for<L: Exclusive>() {
    async fn body<L: Exclusive>(lock: Arc<L>, way: Way) {
        let held = lock.wait(Way::Borrowed).await;
        let mut first = pin!(lock.wait(way));
        tokio::select! {
            biased;
            _ = &mut first => unreachable!("the lock is held"),
            () = tokio::task::yield_now() => {
                // `first` is signalled, and this waits behind it.
                drop(held);
                let barged_in = lock.try_lock().expect("a signal is no handoff");
                let mut second = pin!(lock.wait(way));
                assert!(poll_once(second.as_mut()).await.is_pending());
                drop(barged_in);
                drop(second.await);
            }
        }
        drop(first.await);
    }
    for way in WAYS {
        let current = tokio::runtime::Builder::new_current_thread().build().unwrap();
        current.block_on(body(L::free(), way));
        let multi = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
        multi.block_on(async { tokio::spawn(body(L::free(), way)).await.unwrap() });
        smol::future::block_on(body(L::free(), way));
    }
}

pub(crate) fn a_task_waits_behind_its_own_unpolled_future<L: Exclusive>() {
    for way in WAYS {
        let lock = L::free();
        block_on(async {
            let held = lock.lock();
            let mut first = pin!(lock.wait(way));
            let mut second = pin!(lock.wait(way));
            assert!(poll_once(first.as_mut()).await.is_pending());
            assert!(poll_once(second.as_mut()).await.is_pending());
            drop(held);
            drop(second.await);
            // And a barging acquirer behind it.
            drop(lock.wait(way).await);
            drop(first.await);
        });
        assert!(lock.try_lock().is_some());
    }
}

pub(crate) fn a_set_of_futures_that_is_not_polled_meanwhile<L: Exclusive>() {
    let lock = L::free();
    block_on(async {
        let held = lock.lock();
        let mut set: FuturesUnordered<_> = WAYS.map(|way| lock.wait(way)).into_iter().collect();
        assert!(poll_once(pin!(set.next())).await.is_pending());
        assert_eq!(lock.waiters(), WAYS.len());
        drop(held);
        for _ in 0..3 {
            // The set is not polled while this waits.
            drop(lock.wait(Way::Borrowed).await);
        }
        let mut had = 0;
        while let Some(held) = set.next().await {
            drop(held);
            // Some of the set have been signalled, and are not polled here.
            drop(lock.wait(Way::Timed).await);
            had += 1;
        }
        assert_eq!(had, WAYS.len());
    });
    assert_eq!(lock.waiters(), 0);
}

pub(crate) fn a_stream_that_buffers_locks_while_its_body_wants_one<L: Exclusive>() {
    let lock = L::free();
    block_on(async {
        let held = lock.lock();
        let work = stream::iter(0..12).map(async |turn| {
            drop(lock.wait(WAYS[turn % WAYS.len()]).await);
            turn
        });
        let mut work = pin!(work.buffered(4));
        assert!(poll_once(pin!(work.next())).await.is_pending());
        assert_eq!(lock.waiters(), 4);
        drop(held);
        let mut turns = Vec::new();
        while let Some(turn) = work.next().await {
            turns.push(turn);
            // The buffered ones are queued or signalled, and wait until this is over.
            drop(lock.wait(Way::Borrowed).await);
        }
        assert_eq!(turns, (0..12).collect::<Vec<_>>());
    });
}

pub(crate) fn a_stream_that_buffers_locks_in_any_order<L: Exclusive>() {
    let lock = L::free();
    block_on(async {
        let held = lock.lock();
        let work = stream::iter(0..12).map(|turn| lock.wait(WAYS[turn % WAYS.len()]));
        let mut work = pin!(work.buffer_unordered(4));
        assert!(poll_once(pin!(work.next())).await.is_pending());
        drop(held);
        let mut had = 0;
        while let Some(held) = work.next().await {
            drop(held);
            drop(lock.wait(Way::Owned).await);
            had += 1;
        }
        assert_eq!(had, 12);
    });
}

pub(crate) fn a_future_stored_and_polled_later_keeps_its_position<L: Exclusive>() {
    for way in WAYS {
        let lock = L::free();
        let held = lock.lock();
        let mut stored = Task::new(lock.wait(way));
        assert!(stored.poll().is_pending());
        drop(held);
        // Others come, wait and go. The stored future has been signalled.
        for _ in 0..2 {
            drop(block_on(lock.wait(Way::Borrowed)));
            drop(lock.lock());
        }
        let held = lock.lock();
        let mut behind = Task::new(lock.wait(way));
        assert!(stored.poll().is_pending());
        assert!(behind.poll().is_pending());
        let released = Instant::now();
        drop(held);
        let behind_is_woken = behind.is_woken();
        // On a slow machine the watchdog may have signalled the other, too.
        if released.elapsed() < STALL_TIMEOUT {
            assert!(stored.is_woken() && !behind_is_woken, "the position was lost");
        }
        drop(stored.finish());
        drop(behind.finish());
    }
}

pub(crate) fn threads_behind_unpolled_futures<L: Exclusive>() {
    for unpolled in 1..4 {
        let lock = L::free();
        let held = lock.lock();
        let mut futures: Vec<_> = WAYS.iter().take(unpolled).map(|&way| Task::new(lock.wait(way))).collect();
        assert!(futures.iter_mut().all(|future| future.poll().is_pending()));
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    drop(lock.lock());
                    drop(lock.lock_until(far()));
                });
            }
            until(|| lock.waiters() == unpolled + 3);
            drop(held);
        });
        // Their pending signals do no harm when they go.
        drop(futures);
        assert!(lock.try_lock().is_some());
        assert_eq!(lock.waiters(), 0);
    }
}

pub(crate) fn tasks_behind_unpolled_futures<L: Exclusive>() {
    for way in WAYS {
        let lock = L::free();
        let held = lock.lock();
        let mut unpolled = Task::new(lock.wait(way));
        let mut behind = WAYS.map(|way| Task::new(lock.wait(way)));
        assert!(unpolled.poll().is_pending());
        assert!(behind.iter_mut().all(|task| task.poll().is_pending()));
        drop(held);
        assert!(unpolled.is_woken());
        for task in behind {
            // Each is signalled without `unpolled` being polled.
            drop(task.finish());
        }
        drop(unpolled.finish());
    }
}

/// A future that is leaked while it is queued is never polled again, and never leaves.
pub(crate) fn a_leaked_future_keeps_no_other_from_the_lock<L: Exclusive>() {
    let lock: &'static Arc<L> = Box::leak(Box::new(L::free()));
    let held = lock.lock();
    let mut leaked = lock.wait(Way::Borrowed);
    assert!(block_on(poll_once(leaked.as_mut())).is_pending());
    std::mem::forget(leaked);
    let thread = thread::spawn(|| {
        drop(lock.lock());
        drop(block_on(lock.wait(Way::Timed)));
    });
    drop(held);
    thread.join().unwrap();
    drop(lock.lock());
}

/// Others barged past the signalled future until the lock was reserved for it, and no waiter is queued behind it that the
/// watchdog could signal in its place.
pub(crate) fn an_attempt_gets_past_an_unpolled_future<L: Exclusive>() {
    past_an_unpolled_future::<L>(|lock| lock.try_lock().is_some());
}

pub(crate) fn an_attempt_without_time_gets_past_an_unpolled_future<L: Exclusive>() {
    past_an_unpolled_future::<L>(|lock| lock.lock_for(Duration::ZERO).is_some());
}

fn past_an_unpolled_future<L: Exclusive>(takes_at_once: impl Fn(&L) -> bool) {
    for way in WAYS {
        let lock = L::free();
        let held = lock.lock();
        let mut unpolled = Task::new(lock.wait(way));
        assert!(unpolled.poll().is_pending());
        drop(held);
        while takes_at_once(&lock) {}
        until(|| takes_at_once(&lock));
        drop(unpolled.finish());
        assert!(lock.try_lock().is_some());
    }
}

async fn poll_once<F: Future + ?Sized>(mut future: Pin<&mut F>) -> Poll<F::Output> {
    poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await
}
