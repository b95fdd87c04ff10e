//! Every way to wait, of every row: what it gets, when it gives up, and what is left of it.

use std::sync::Arc;
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use waitword::word::Table;
use waitword::{LockError, forbid_blocking};
use waitword_core::observe::{Actor, WaiterSeen, WaitsFor};

use crate::common::law::{Call, Ended, Opener, Row, Way, law, laws};
use crate::common::{Task, forbidden, until};
use crate::rows::FAR;

laws! {
    [mutex unlocked reader upgradable_reader writer upgrade permit permits async_lock callback event wait_group barrier cell initialiser condvar moved]:
        waits_until_it_is_there;
    // A condition variable waits at least once.
    [mutex unlocked reader upgradable_reader writer upgrade permit permits async_lock callback event wait_group barrier cell initialiser]:
        gets_at_once_what_is_there;
    // The others have no deadlines.
    [mutex reader upgradable_reader writer upgrade permit permits async_lock event wait_group barrier cell condvar]:
        gives_up_and_never_too_early,
        has_what_came_before_the_poll_though_the_time_is_up,
        is_not_queued_once_it_has_given_up;
    // Of a barrier the others are missing; the table's waits for a condition begin at the poll.
    [mutex reader upgradable_reader writer upgrade permit permits async_lock event wait_group cell condvar]:
        keeps_no_other_out_once_it_has_given_up;
    [mutex reader upgradable_reader writer upgrade permit permits async_lock event wait_group barrier cell]:
        counts_a_timeout_from_the_call;
    [mutex reader upgradable_reader writer upgrade permit permits async_lock event wait_group barrier cell initialiser condvar]:
        does_not_block_where_that_is_forbidden,
        is_seen_with_its_caller;
    [mutex reader upgradable_reader writer upgrade permit permits event wait_group barrier]:
        keeps_its_share_until_it_has_left_the_queue;
}

/// Also if the time is up before, and on threads that must not block. A task is polled once.
fn gets_at_once_what_is_there<L>(row: &Row<L>) {
    let _nobody_may_wait = forbid_blocking();
    for way in &row.ways {
        for timeout in [Duration::MAX, Duration::ZERO] {
            let lock = (row.open)();
            assert_eq!(way.run(&lock, timeout).map(drop), Ok(()), "{} {timeout:?}", way.name);
            assert_eq!(row.is_free(&lock), (row.stays_open)(&lock), "{} {timeout:?}", way.name);
            row.assert_left(&lock, way);
        }
    }
}

fn waits_until_it_is_there<L: Send + Sync>(row: &Row<L>) {
    for way in row.ways.iter().filter(|way| way.waits()) {
        let lock = (row.closed)();
        let open = (row.close)(&lock);
        thread::scope(|scope| {
            let waiter = scope.spawn(|| way.run(&lock, FAR).map(drop));
            until(|| (row.waiters)(&lock) == 1 || waiter.is_finished());
            assert!(!waiter.is_finished(), "{}: it did not wait", way.name);
            open();
            assert_eq!(waiter.join().unwrap(), Ok(()), "{}", way.name);
        });
        assert_eq!(row.is_free(&lock), (row.stays_open)(&lock), "{}", way.name);
        row.assert_left(&lock, way);
    }
}

fn gives_up_and_never_too_early<L>(row: &Row<L>) {
    let lock = (row.closed)();
    let _open = (row.close)(&lock);
    for way in &row.ways {
        let timeouts: &[u64] = match way.call {
            Call::Attempt(_) => &[0],
            _ if way.is_timed() => &[0, 1, 3, 15],
            _ => &[],
        };
        for timeout in timeouts.iter().copied().map(Duration::from_millis) {
            let start = Instant::now();
            assert_eq!(
                way.run(&lock, timeout).map(drop),
                Err(LockError::TimedOut),
                "{} {timeout:?}",
                way.name
            );
            assert!(start.elapsed() >= timeout, "{} {timeout:?}", way.name);
            row.assert_left(&lock, way);
        }
    }
}

fn keeps_no_other_out_once_it_has_given_up<L>(row: &Row<L>) {
    let lock = (row.closed)();
    let open = (row.close)(&lock);
    for way in row.ways.iter().filter(|way| way.is_timed()) {
        assert!(way.run(&lock, Duration::from_millis(1)).is_err(), "{}", way.name);
    }
    open();
    assert!(row.is_free(&lock));
}

/// Runs `test` with a queued task of each timed method, the time at which it is too late, and what opens the lock.
pub(crate) fn soon_too_late<L>(
    row: &Row<L>,
    test: impl Fn(&Way<L>, &Arc<L>, Task<'_, Ended<'_>>, Instant, Opener<'_>),
) {
    for way in row.ways.iter().filter(|way| way.is_timed()) {
        let Call::Task(call, _) = way.call else { continue };
        let mut timeout = Duration::from_millis(1);
        loop {
            let lock = (row.closed)();
            let open = (row.close)(&lock);
            let mut task = Task::new(call(&lock, timeout));
            let late = Instant::now() + timeout;
            if task.poll().is_pending() {
                test(way, &lock, task, late, open);
                break;
            }
            // A slow machine.
            timeout *= 2;
        }
    }
}

fn has_what_came_before_the_poll_though_the_time_is_up<L>(row: &Row<L>) {
    soon_too_late(row, |way, _, mut task, late, open| {
        open();
        until(|| Instant::now() > late);
        assert!(matches!(task.poll(), Poll::Ready(Ok(_))), "{}", way.name);
    });
}

/// Though the future is still there.
fn is_not_queued_once_it_has_given_up<L>(row: &Row<L>) {
    soon_too_late(row, |way, lock, mut task, late, _open| {
        until(|| task.is_woken() && Instant::now() >= late);
        assert_eq!(task.poll().map_ok(drop), Poll::Ready(Err(LockError::TimedOut)), "{}", way.name);
        assert_eq!((row.waiters)(lock), 0, "{}", way.name);
    });
}

fn counts_a_timeout_from_the_call<L>(row: &Row<L>) {
    let lock = (row.closed)();
    let _open = (row.close)(&lock);
    for way in row.ways.iter().filter(|way| way.is_timed()) {
        if let Call::Task(call, _) = way.call {
            let mut late = Task::new(call(&lock, Duration::from_millis(1)));
            let start = Instant::now();
            until(|| start.elapsed() > Duration::from_millis(1));
            assert_eq!(late.poll().map_ok(drop), Poll::Ready(Err(LockError::TimedOut)), "{}", way.name);
        }
    }
}

/// Threads that may not wait do not, and are told what to use; tasks wait there.
fn does_not_block_where_that_is_forbidden<L>(row: &Row<L>) {
    for way in &row.ways {
        let lock = (row.closed)();
        let open = (row.close)(&lock);
        let with = |timeout| {
            let _must_not = forbid_blocking();
            way.run(&lock, timeout).map(drop)
        };
        match way.call {
            Call::Attempt(_) => assert_eq!(with(Duration::MAX), Err(LockError::TimedOut), "{}", way.name),
            Call::Thread(_, None) => {
                for timeout in [Duration::MAX, FAR] {
                    assert_eq!(with(timeout), Err(LockError::BlockingForbidden), "{}", way.name);
                }
                // That would not have waited, but for a condition one always waits.
                let refused = match row.waits_for {
                    WaitsFor::Condvar => LockError::BlockingForbidden,
                    _ => LockError::TimedOut,
                };
                assert_eq!(with(Duration::ZERO), Err(refused), "{}", way.name);
            }
            Call::Thread(call, Some(instead)) => {
                let (message, place) = forbidden(|| call(&lock, Duration::MAX).map(drop));
                assert!(message.contains(instead), "{}: {message}", way.name);
                assert!(way.is_called_at(&place.0, place.1), "{}: {place:?}", way.name);
            }
            Call::Task(call, _) => {
                let _must_not = forbid_blocking();
                let mut task = Task::new(call(&lock, Duration::MAX));
                assert!(task.poll().is_pending(), "{}", way.name);
                open();
                assert!(matches!(task.poll(), Poll::Ready(Ok(_))), "{}", way.name);
            }
        }
        row.assert_left(&lock, way);
    }
}

/// Snapshots show each waiter with the caller of the method that waits, with what it waits for, and who waits.
fn is_seen_with_its_caller<L: Send + Sync>(row: &Row<L>) {
    for way in row.ways.iter().filter(|way| way.waits()) {
        let lock = (row.closed)();
        let open = (row.close)(&lock);
        let words = (row.words)(&lock);
        let seen = || {
            let all = Table::global().snapshot();
            all.into_iter().filter(|waiter| words.contains(&waiter.word)).collect::<Vec<_>>()
        };
        let check = |seen: &[WaiterSeen]| {
            let [waiter] = seen else { panic!("{}: one waiter, and not {}", way.name, seen.len()) };
            let site = waiter.site.expect("a lock's waiter has a site");
            assert!(way.is_called_at(site.file(), site.line()), "the site of {}: {site}", way.name);
            assert_eq!(waiter.waits_for, row.waits_for, "{}", way.name);
            match &waiter.actor {
                Actor::Thread(thread) => assert!(!way.is_task() && thread.name() == Some("blocked")),
                actor => assert!(way.is_task() && matches!(actor, Actor::Task(_)), "{}", way.name),
            }
        };
        if way.is_task() {
            let task = way.queued(&lock);
            check(&seen());
            open();
            drop(task);
            continue;
        }
        thread::scope(|scope| {
            let blocked = thread::Builder::new().name("blocked".into());
            blocked.spawn_scoped(scope, || way.run(&lock, FAR).map(drop)).unwrap();
            until(|| !seen().is_empty());
            let seen = seen();
            open();
            check(&seen);
        });
    }
}

/// It may be the last one. Dropped in the queue, it leaves that of a lock which is still there.
fn keeps_its_share_until_it_has_left_the_queue<L: 'static>(row: &Row<L>) {
    let owned = row.ways.iter().filter(|way| way.is_task() && way.name.contains("owned"));
    assert_ne!(owned.clone().count(), 0);
    for way in owned {
        let lock: &'static Arc<L> = Box::leak(Box::new((row.closed)()));
        // For good.
        std::mem::forget((row.close)(lock));
        let Call::Task(call, _) = way.call else { unreachable!("it is a task") };
        let task = Task::queued(call(lock, FAR));
        let weak = Arc::downgrade(lock);
        // SAFETY: the share of the leaked `Arc`, which is not used any more: the wait does not end.
        unsafe { Arc::decrement_strong_count(Arc::as_ptr(lock)) };
        let lock = weak.upgrade().expect("the wait has a share");
        assert_eq!(((row.waiters)(&lock), Arc::strong_count(&lock)), (1, 2), "{}", way.name);
        drop(lock);
        drop(task);
        assert_eq!(weak.strong_count(), 0, "{}", way.name);
    }
}
