//! Locks that one at a time can hold, and whose release signals a waiter: turns, barging, and signals that are forwarded.

use std::sync::Mutex;
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use waitword::{LockError, STALL_TIMEOUT};

use super::waits::soon_too_late;
use crate::common::law::{Row, law, laws};
use crate::common::until;

laws! {
    [mutex writer permit]:
        threads_and_tasks_share_one_queue,
        others_barge_past_a_signalled_waiter_until_its_window_closes,
        a_signalled_waiter_that_gives_up_forwards_the_signal;
    [async_lock]: threads_and_tasks_share_one_queue_and_recheck;
}

/// However many they are. Once more if the watchdog has skipped the waiter, on a slow machine: then nothing is reserved for it.
fn others_barge_past_a_signalled_waiter_until_its_window_closes<L>(row: &Row<L>) {
    until(|| {
        let lock = (row.closed)();
        let open = (row.close)(&lock);
        let mut first = row.task().queued(&lock);
        let signalled = Instant::now();
        open();
        assert!(row.is_free(&lock));
        while row.is_free(&lock) {
            if signalled.elapsed() > STALL_TIMEOUT {
                return false;
            }
        }
        // It is free, and reserved.
        assert!(first.poll().is_ready());
        assert!(row.is_free(&lock));
        true
    });
}

fn a_signalled_waiter_that_gives_up_forwards_the_signal<L>(row: &Row<L>) {
    soon_too_late(row, |way, lock, mut late, deadline, open| {
        let mut next = row.task().queued(lock);
        open();
        let barged_in = row.attempt(lock).expect("a signal is no handoff");
        until(|| Instant::now() > deadline);
        assert_eq!(late.poll().map_ok(drop), Poll::Ready(Err(LockError::TimedOut)), "{}", way.name);
        // Though the future is still there.
        assert_eq!((row.waiters)(lock), 1, "{}", way.name);
        drop(barged_in);
        assert!(next.is_woken() && next.poll().is_ready(), "{}", way.name);
    });
}

/// On a slow machine the watchdog may have signalled another before the signalled one has come.
fn threads_and_tasks_share_one_queue<L: Send + Sync>(row: &Row<L>) {
    share_one_queue(row, |_enqueued, released| released);
}

/// From the beginning each may recheck on its own before the woken one has come.
fn threads_and_tasks_share_one_queue_and_recheck<L: Send + Sync>(row: &Row<L>) {
    share_one_queue(row, |enqueued, _released| enqueued);
}

/// In every mixture they have their turns in the order in which they came, until too long after `strict` that may be another.
fn share_one_queue<L: Send + Sync>(row: &Row<L>, strict: fn(Instant, Instant) -> Instant) {
    let kinds = [row.thread(), row.task()];
    for mixture in 0..1_usize << 5 {
        let lock = (row.closed)();
        let turns = Mutex::new(Vec::new());
        let open = (row.close)(&lock);
        let enqueued = Instant::now();
        let mut released = enqueued;
        thread::scope(|scope| {
            for place in 0..5 {
                let (lock, turns, way) = (&lock, &turns, kinds[mixture >> place & 1]);
                scope.spawn(move || {
                    let _held = way.run(lock, Duration::MAX).unwrap();
                    turns.lock().unwrap().push(place);
                });
                until(|| (row.waiters)(lock) == place + 1);
            }
            released = Instant::now();
            open();
        });
        let turns = turns.into_inner().unwrap();
        if strict(enqueued, released).elapsed() < STALL_TIMEOUT {
            assert_eq!(turns, [0, 1, 2, 3, 4], "{mixture:b}");
        }
        assert_eq!(turns.len(), 5);
    }
}
