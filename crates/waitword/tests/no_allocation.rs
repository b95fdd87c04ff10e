//! A wait allocates nothing, neither a thread's nor a task's, with a deadline or without: every way to wait, of every row of the table.

mod common;
#[path = "../../waitword-core/tests/common/counting.rs"]
mod counting;
#[path = "common/rows.rs"]
mod rows;

use std::hint;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use common::law::{Call, Row, Way, boxes, law, laws};
use common::{poll, until};
use rows::FAR;
use waitword::word::{AsyncLock, Parker, Table};
use waitword::{Event, LazyLock, LockError, Mutex, STALL_TIMEOUT};

laws! {
    [mutex unlocked reader upgradable_reader writer upgrade permit permits async_lock callback event wait_group barrier cell initialiser condvar moved moved_to_a_free_mutex]:
        a_wait_allocates_nothing;
    [mutex writer permit permits async_lock]:
        a_recheck_in_vain_allocates_nothing;
}

/// Without the boxes of the table.
fn allocations(run: impl FnOnce()) -> usize {
    let before = counting::allocations() - boxes();
    run();
    counting::allocations() - boxes() - before
}

/// The program's first wait makes the table. What that allocates from then on follows the number of words that are waited on, and the
/// waiter that adds the next word pays. So the tests wait one after the other, at a lock that has no place in the table.
fn alone() -> std::sync::MutexGuard<'static, ()> {
    static ONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    Table::global();
    ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// What a wait allocates.
type Count<L> = fn(&Row<L>, &Way<L>) -> usize;

fn a_wait_allocates_nothing<L: Send + Sync>(row: &Row<L>) {
    let _alone = alone();
    for way in &row.ways {
        let tests: &[Count<L>] = match way.call {
            Call::Attempt(_) => &[],
            // The first starts the timer's thread.
            Call::Task(..) => &[ends, ends, is_dropped],
            Call::Thread(..) if way.is_timed() => &[blocks, gives_up],
            Call::Thread(..) => &[blocks],
        };
        let counts: Vec<_> = tests.iter().map(|test| test(row, way)).collect();
        assert!(
            counts.iter().skip(usize::from(way.is_task())).all(|count| *count == 0),
            "{}: {counts:?}",
            way.name
        );
    }
}

fn ends<L>(row: &Row<L>, way: &Way<L>) -> usize {
    let lock = (row.closed)();
    let (Call::Task(call, _), open) = (&way.call, (row.close)(&lock)) else { unreachable!("a task") };
    let mut wait = call(&lock, FAR);
    allocations(|| {
        assert!(poll(wait.as_mut()).is_pending(), "{}", way.name);
        open();
        assert!(matches!(poll(wait.as_mut()), Poll::Ready(Ok(_))), "{}", way.name);
        drop(wait);
    })
}

fn is_dropped<L>(row: &Row<L>, way: &Way<L>) -> usize {
    let lock = (row.closed)();
    let (Call::Task(call, _), _open) = (&way.call, (row.close)(&lock)) else { unreachable!("a task") };
    let mut wait = call(&lock, FAR);
    allocations(|| {
        assert!(poll(wait.as_mut()).is_pending(), "{}", way.name);
        drop(wait);
    })
}

/// Another has barged past it.
fn a_recheck_in_vain_allocates_nothing<L>(row: &Row<L>) {
    let _alone = alone();
    for way in row.tasks() {
        let lock = (row.closed)();
        let open = (row.close)(&lock);
        let mut wait = way.wait(&lock);
        assert!(poll(wait.as_mut()).is_pending());
        open();
        let barged_in = row.attempt(&lock).expect("a signal is no handoff");
        let polled = || assert!(poll(wait.as_mut()).is_pending(), "{}", way.name);
        assert_eq!(allocations(polled), 0, "{}", way.name);
        drop(barged_in);
        assert!(poll(wait.as_mut()).is_ready(), "{}", way.name);
    }
}

fn blocks<L: Send + Sync>(row: &Row<L>, way: &Way<L>) -> usize {
    let lock = (row.closed)();
    let open = (row.close)(&lock);
    thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            // The thread has its waker for good, and would make it at its first wait.
            Parker::current();
            allocations(|| drop(way.run(&lock, FAR).unwrap()))
        });
        until(|| (row.waiters)(&lock) == 1 || waiter.is_finished());
        open();
        waiter.join().unwrap()
    })
}

fn gives_up<L>(row: &Row<L>, way: &Way<L>) -> usize {
    let lock = (row.closed)();
    let _open = (row.close)(&lock);
    // One that is given up may be over before it comes to that.
    Parker::current();
    allocations(|| {
        let ended = way.run(&lock, Duration::from_micros(10)).map(drop);
        assert_eq!(ended, Err(LockError::TimedOut), "{}", way.name);
    })
}

#[test]
fn the_allocator_counts() {
    assert_ne!(allocations(|| drop(hint::black_box(Box::new(1)))), 0);
}

/// Each wait starts the watchdog, which has stopped before.
#[test]
fn a_wait_that_starts_the_watchdog_again_allocates_nothing() {
    let _alone = alone();
    let mutex = Arc::new(Mutex::new(()));
    let waits = || {
        let guard = mutex.lock();
        let (mut signalled, mut behind) = (pin!(mutex.lock_async()), pin!(mutex.lock_owned_async()));
        assert!(poll(signalled.as_mut()).is_pending() && poll(behind.as_mut()).is_pending());
        drop(guard);
        drop(poll(signalled.as_mut()));
        assert!(poll(behind.as_mut()).is_ready());
    };
    waits();
    for _ in 0..3 {
        assert_eq!(allocations(waits), 0);
        let end = Instant::now();
        until(|| end.elapsed() > 4 * STALL_TIMEOUT);
    }
}

/// What has no row: a callback under a free lock, a listener, a lazy value.
#[test]
fn what_does_not_wait_allocates_nothing() {
    let (lock, event, lazy) = (AsyncLock::new(), Arc::new(Event::new()), LazyLock::<i32>::new(|| 1));
    let _alone = alone();
    let run = || {
        assert_eq!(poll(pin!(lock.execute_locked(|| 1))), Poll::Ready(1));
        assert!(poll(pin!(LazyLock::force_async(&lazy))).is_ready());
        let mut listener = pin!(event.listen_owned());
        assert!(!listener.as_mut().enable());
        event.notify_all();
        assert!(listener.as_mut().try_wait());
    };
    run();
    assert_eq!(allocations(run), 0);
}
