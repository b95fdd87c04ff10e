//! Futures that are never polled (Oxide RFD 609): signalled, they do not respond, and the waiters behind them get the lock
//! all the same. Those of a condition variable, which a notify of all moves to the mutex's queue, keep the notify that has counted them.
//!
//! None of these tests measures time. Each would hang if an unpolled future could keep the lock from the others.

use std::pin::pin;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use futures_util::stream::{self, FuturesUnordered, StreamExt};
use waitword::STALL_TIMEOUT;

use crate::common::law::{Row, Way, law, laws};
use crate::common::{Task, block_on, poll_once, until};

laws! {
    [mutex writers both_kinds_beside_readers both_kinds_beside_writers permit async_lock moved moved_to_a_free_mutex]:
        select_whose_handler_wants_what_an_unpolled_branch_was_signalled_for,
        a_task_waits_behind_its_own_unpolled_future,
        a_set_of_futures_that_is_not_polled_meanwhile,
        a_stream_that_buffers_locks_while_its_body_wants_one,
        a_stream_that_buffers_locks_in_any_order,
        threads_behind_unpolled_futures,
        tasks_behind_unpolled_futures,
        a_leaked_future_keeps_no_other_from_the_lock;
    // A woken waiter of the lock of scripts has left the queue.
    [mutex writers both_kinds_beside_readers both_kinds_beside_writers permit moved moved_to_a_free_mutex]:
        a_future_stored_and_polled_later_keeps_its_position;
    // Of a condition variable only the mutex matters for attempts.
    [mutex writers both_kinds_beside_readers both_kinds_beside_writers permit]:
        an_attempt_gets_past_an_unpolled_future,
        an_attempt_without_time_gets_past_an_unpolled_future;
}

/// The shape of the report: one branch of a `select!` waits for the lock, another wins and, in its handler, wants the
/// same lock, while the first is alive and not polled.
fn select_whose_handler_wants_what_an_unpolled_branch_was_signalled_for<L: Send + Sync>(
    row: &'static Row<L>,
) {
    async fn body<L: Send + Sync>(row: &'static Row<L>, way: &Way<L>) {
        let lock = (row.closed)();
        let open = (row.close)(&lock);
        let mut first = pin!(way.wait(&lock));
        tokio::select! {
            biased;
            _ = &mut first => unreachable!("it has to wait"),
            () = tokio::task::yield_now() => {
                open();
                // `first` is signalled, and this waits behind it.
                let barged_in = row.attempt(&lock).expect("a signal is no handoff");
                let mut second = pin!(row.other(&lock));
                assert!(poll_once(second.as_mut()).await.is_pending());
                drop(barged_in);
                drop(second.await);
                drop(row.other(&lock).await);
            }
        }
        drop(first.await);
        row.assert_free(&lock);
    }
    for way in row.tasks() {
        let current = tokio::runtime::Builder::new_current_thread().build().unwrap();
        current.block_on(body(row, way));
        let multi = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
        multi.block_on(async { tokio::spawn(body(row, way)).await.unwrap() });
        smol::future::block_on(body(row, way));
    }
}

fn a_task_waits_behind_its_own_unpolled_future<L: Send + Sync>(row: &'static Row<L>) {
    for way in row.tasks() {
        let lock = (row.closed)();
        block_on(async {
            let open = (row.close)(&lock);
            let [mut first, mut second] = [way.wait(&lock), way.wait(&lock)];
            assert!(poll_once(first.as_mut()).await.is_pending());
            assert!(poll_once(second.as_mut()).await.is_pending());
            open();
            drop(second.await);
            // And a barging acquirer behind it.
            drop(row.other(&lock).await);
            drop(first.await);
        });
        row.assert_free(&lock);
    }
}

fn a_set_of_futures_that_is_not_polled_meanwhile<L: Send + Sync>(row: &'static Row<L>) {
    let lock = (row.closed)();
    block_on(async {
        let open = (row.close)(&lock);
        let mut set: FuturesUnordered<_> = row.tasks().into_iter().map(|way| way.wait(&lock)).collect();
        assert!(poll_once(pin!(set.next())).await.is_pending());
        assert_eq!((row.waiters)(&lock), row.tasks().len());
        open();
        for _ in 0..3 {
            // The set is not polled while this waits.
            drop(row.other(&lock).await);
        }
        let mut had = 0;
        while let Some(held) = set.next().await {
            drop(held);
            // Some of the set have been signalled, and are not polled here.
            drop(row.other(&lock).await);
            had += 1;
        }
        assert_eq!(had, row.tasks().len());
    });
    row.assert_free(&lock);
}

fn a_stream_that_buffers_locks_while_its_body_wants_one<L: Send + Sync>(row: &'static Row<L>) {
    let (lock, tasks) = ((row.closed)(), row.tasks());
    block_on(async {
        let open = (row.close)(&lock);
        let work = stream::iter(0..12).map(async |turn| {
            drop(tasks[turn % tasks.len()].wait(&lock).await);
            turn
        });
        let mut work = pin!(work.buffered(4));
        assert!(poll_once(pin!(work.next())).await.is_pending());
        assert_eq!((row.waiters)(&lock), 4);
        open();
        let mut turns = Vec::new();
        while let Some(turn) = work.next().await {
            turns.push(turn);
            // The buffered ones are queued or signalled, and wait until this is over.
            drop(row.other(&lock).await);
            (row.again)(&lock);
        }
        assert_eq!(turns, (0..12).collect::<Vec<_>>());
    });
    row.assert_free(&lock);
}

fn a_stream_that_buffers_locks_in_any_order<L: Send + Sync>(row: &'static Row<L>) {
    let (lock, tasks) = ((row.closed)(), row.tasks());
    block_on(async {
        let open = (row.close)(&lock);
        let work = stream::iter(0..12).map(|turn| tasks[turn % tasks.len()].wait(&lock));
        let mut work = pin!(work.buffer_unordered(4));
        assert!(poll_once(pin!(work.next())).await.is_pending());
        open();
        let mut had = 0;
        while let Some(held) = work.next().await {
            drop(held);
            drop(row.other(&lock).await);
            (row.again)(&lock);
            had += 1;
        }
        assert_eq!(had, 12);
    });
    row.assert_free(&lock);
}

fn a_future_stored_and_polled_later_keeps_its_position<L: Send + Sync>(row: &'static Row<L>) {
    for way in row.tasks() {
        let lock = (row.closed)();
        let open = (row.close)(&lock);
        let mut stored = way.queued(&lock);
        open();
        // Others come, wait and go. The stored future has been signalled.
        for _ in 0..2 {
            drop(block_on(row.other(&lock)));
            drop(row.lock(&lock));
        }
        let held = row.lock(&lock);
        assert!(stored.poll().is_pending());
        let behind = Task::queued(row.other(&lock));
        let released = Instant::now();
        drop(held);
        let behind_is_woken = behind.is_woken();
        // On a slow machine the watchdog may have signalled the other, too.
        if released.elapsed() < STALL_TIMEOUT {
            assert!(stored.is_woken() && !behind_is_woken, "the position was lost");
        }
        drop(stored.finish());
        drop(behind.finish());
        row.assert_free(&lock);
    }
}

fn threads_behind_unpolled_futures<L: Send + Sync>(row: &'static Row<L>) {
    for unpolled in 1..4 {
        let lock = (row.closed)();
        let open = (row.close)(&lock);
        let futures: Vec<_> =
            row.tasks().into_iter().cycle().take(unpolled).map(|way| way.queued(&lock)).collect();
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    row.block(&lock);
                    drop(row.lock_for(&lock, Duration::MAX).unwrap());
                });
            }
            until(|| (row.waiters)(&lock) == unpolled + 3);
            open();
        });
        // Their pending signals do no harm when they go.
        drop(futures);
        row.assert_free(&lock);
    }
}

fn tasks_behind_unpolled_futures<L: Send + Sync>(row: &'static Row<L>) {
    for way in row.tasks() {
        let lock = (row.closed)();
        let open = (row.close)(&lock);
        let unpolled = way.queued(&lock);
        let behind: Vec<_> = row.tasks().into_iter().map(|way| way.queued(&lock)).collect();
        open();
        assert!(unpolled.is_woken());
        for task in behind {
            // Each is signalled without `unpolled` being polled.
            drop(task.finish());
        }
        drop(unpolled.finish());
        row.assert_free(&lock);
    }
}

/// A future that is leaked while it is queued is never polled again, and never leaves.
fn a_leaked_future_keeps_no_other_from_the_lock<L: Send + Sync>(row: &'static Row<L>) {
    let lock: &'static Arc<L> = Box::leak(Box::new((row.closed)()));
    let open = (row.close)(lock);
    let mut leaked = row.tasks()[0].wait(lock);
    assert!(block_on(poll_once(leaked.as_mut())).is_pending());
    std::mem::forget(leaked);
    let thread = thread::spawn(|| {
        row.block(lock);
        drop(block_on(row.other(lock)));
    });
    until(|| (row.waiters)(lock) == 2);
    open();
    thread.join().unwrap();
    drop(row.lock(lock));
}

/// Others barged past the signalled future until the lock was reserved for it, and no waiter is queued behind it that the
/// watchdog could signal in its place.
fn an_attempt_gets_past_an_unpolled_future<L: Send + Sync>(row: &'static Row<L>) {
    past_an_unpolled_future(row, |lock| row.is_free(lock));
}

fn an_attempt_without_time_gets_past_an_unpolled_future<L: Send + Sync>(row: &'static Row<L>) {
    past_an_unpolled_future(row, |lock| row.lock_for(lock, Duration::ZERO).is_ok());
}

fn past_an_unpolled_future<L>(row: &Row<L>, takes_at_once: impl Fn(&Arc<L>) -> bool) {
    for way in row.tasks() {
        until(|| {
            let lock = (row.closed)();
            let open = (row.close)(&lock);
            let unpolled = way.queued(&lock);
            open();
            let signalled = Instant::now();
            let mut is_reserved = false;
            while !is_reserved && signalled.elapsed() < STALL_TIMEOUT {
                is_reserved = !takes_at_once(&lock);
            }
            until(|| takes_at_once(&lock));
            drop(unpolled.finish());
            row.assert_free(&lock);
            // Once more if not: the watchdog may have skipped it, on a slow machine.
            is_reserved
        });
    }
}
