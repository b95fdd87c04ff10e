//! The readers-writer lock, step by step: which acquirer gets it when.

mod dropped;
mod unpolled;
mod upgradable;
mod upgrades;

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use waitword::*;

use crate::common::{Panics, Task, block_on, far, forbidden, until, waiters};

const SOON: Duration = Duration::from_millis(2);

/// Readers come, each before the last one has left, until one is refused. Returns that last one.
fn stream_of_readers<'a, T>(lock: &'a RwLock<T>, first: RwLockReadGuard<'a, T>) -> RwLockReadGuard<'a, T> {
    let (mut held, start) = (first, Instant::now());
    while let Some(next) = lock.try_read() {
        held = next;
        assert!(start.elapsed() < Duration::from_secs(60), "readers starve the writer");
    }
    held
}

#[test]
fn readers_from_threads_and_tasks_read_at_the_same_time() {
    let (lock, all_inside) = (RwLock::new(1), std::sync::Barrier::new(4));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let _guard = lock.read();
                all_inside.wait();
            });
        }
        scope.spawn(|| {
            block_on(async {
                let _guard = lock.read_async().await;
                all_inside.wait();
            });
        });
        let _guard = lock.upgradable_read();
        all_inside.wait();
    });
}

#[test]
fn which_holder_excludes_which() {
    let lock = RwLock::new(1);
    let reader = lock.read();
    assert!(lock.try_read().is_some() && lock.try_write().is_none());
    {
        let upgradable = lock.try_upgradable_read().expect("beside a reader");
        assert!(lock.try_upgradable_read().is_none() && lock.try_read().is_some());
        drop(reader);
        assert!(lock.try_write().is_none());
        drop(upgradable);
    }
    let writer = lock.try_write().expect("it is free");
    assert!(lock.is_locked() && lock.is_write_locked());
    assert!(lock.try_read().is_none() && lock.try_write().is_none() && lock.try_upgradable_read().is_none());
    assert!(lock.try_read_recursive().is_none());
    drop(writer);
    assert!(!lock.is_locked() && !lock.is_write_locked());
}

#[test]
fn a_stream_of_readers_does_not_starve_a_writer_and_a_reader_may_read_again() {
    let lock = RwLock::new(1);
    let first = lock.read();
    let writer = Task::queued(lock.write_async());
    let last = stream_of_readers(&lock, first);
    assert_eq!(*lock.try_read_recursive().expect("read already"), 1);
    // Later acquirers enqueue behind it.
    let behind = Task::queued(lock.read_async());
    drop(last);
    *writer.finish() += 1;
    assert_eq!(*behind.finish(), 2);
}

/// Once more if the watchdog has skipped the reader, on a slow machine: then nothing is reserved for it.
#[test]
fn a_stream_of_writers_does_not_starve_a_reader() {
    until(|| {
        let lock = RwLock::new(1);
        let mut held = lock.write();
        let reader = Task::queued(lock.read_async());
        let start = Instant::now();
        loop {
            drop(held);
            match lock.try_write() {
                Some(next) => held = next,
                None => break,
            }
            if start.elapsed() >= STALL_TIMEOUT {
                return false;
            }
        }
        let is_first = lock.try_read().is_none();
        assert!(is_first || start.elapsed() >= STALL_TIMEOUT);
        assert_eq!(*reader.finish(), 1);
        is_first
    });
}

#[test]
fn a_stream_of_thread_readers_lets_a_thread_write() {
    let lock = RwLock::new(0);
    thread::scope(|scope| {
        let writer = scope.spawn(|| *lock.write() += 1);
        let mut held = lock.read();
        while !writer.is_finished() {
            match lock.try_read() {
                Some(next) => held = next,
                None => {
                    drop(held);
                    held = lock.read();
                }
            }
        }
    });
    assert_eq!(lock.into_inner(), 1);
}

#[test]
fn readers_in_a_row_get_in_together_and_the_writer_behind_them_alone() {
    let lock = RwLock::new(1);
    let writer = lock.write();
    let mut first = Task::queued(lock.read_async());
    let mut second = Task::queued(lock.read_async());
    let mut third = Task::queued(lock.write_async());
    let fourth = Task::queued(lock.read_async());
    let released = Instant::now();
    drop(writer);
    // On a slow machine the watchdog may have signalled others, too, be about to wake them, and have skipped the writer.
    let is_late = || released.elapsed() >= STALL_TIMEOUT;
    assert!(first.is_woken());
    assert!(!second.is_woken() || is_late(), "one call at a time");
    let Poll::Ready(one) = first.poll() else { panic!("it was signalled") };
    assert!(second.is_woken() || is_late(), "signalled by the first");
    until(|| second.is_woken());
    let Poll::Ready(two) = second.poll() else { panic!("there is room for readers") };
    assert!(third.is_woken() || is_late(), "signalled by the second");
    until(|| third.is_woken());
    assert!(third.poll().is_pending(), "it keeps its place until they have left");
    let is_fourth_behind = !fourth.is_woken() && lock.try_read().is_none();
    assert!(is_fourth_behind || is_late(), "and those behind it theirs");
    drop((one, two));
    let Poll::Ready(three) = third.poll() else { panic!("it is its turn") };
    drop(three);
    assert_eq!(*fourth.finish(), 1);
}

#[test]
fn a_writer_that_gives_up_lets_those_behind_it_in() {
    for gives_up in [true, false] {
        let lock = RwLock::new(1);
        let first = lock.read();
        let after = if gives_up { SOON } else { Duration::from_secs(3600) };
        let (writer, _) = Task::queued_until(after, |deadline| lock.write_async().deadline(deadline));
        let last = stream_of_readers(&lock, first);
        let behind = Task::queued(lock.read_async());
        if gives_up {
            assert_eq!(writer.finish().unwrap_err(), LockError::TimedOut);
        } else {
            drop(writer);
        }
        // And the queue is as it was.
        assert_eq!(*behind.finish(), *last);
        assert!(lock.try_read().is_some(), "no waiter is queued");
    }
}

#[test]
fn an_upgrade_where_blocking_is_forbidden_gives_the_guard_back() {
    let lock = RwLock::new(1);
    let reader = lock.read();
    let _forbidden = forbid_blocking();
    let not = RwLockUpgradableReadGuard::upgrade_until(lock.upgradable_read(), far()).unwrap_err();
    assert_eq!(not.error, LockError::BlockingForbidden);
    drop((reader, not));
    assert!(lock.try_write().is_some());
}

#[test]
fn a_reader_whose_signal_to_the_next_panics_enters_and_so_does_the_next() {
    let lock = RwLock::new(1);
    let writer = lock.write();
    let mut first = Task::queued(lock.read_async());
    let mut second = pin!(lock.read_async());
    assert!(second.as_mut().poll(&mut Context::from_waker(&Panics::waker())).is_pending());
    drop(writer);
    let both = (first.poll(), second.poll(&mut Context::from_waker(Waker::noop())));
    assert!(both.0.is_ready() && both.1.is_ready(), "signalled");
    drop(both);
    assert!(lock.try_write().is_some());
}

#[test]
fn without_a_guard() {
    let mut lock = RwLock::from(1);
    *lock.get_mut() += 1;
    assert_eq!(format!("{lock:?}"), "RwLock { data: 2 }");
    let reader = lock.read();
    assert_eq!(format!("{lock:?} {reader:?} {reader}"), "RwLock { data: 2 } 2 2");
    drop(reader);
    let writer = lock.write();
    assert_eq!(format!("{lock:?}"), "RwLock { data: <locked> }");
    drop(writer);
    assert_eq!(format!("{:?}", lock.read_async()), "RwLockRead { waiting: false, .. }");
    assert_eq!((lock.into_inner(), RwLock::<u8>::default().into_inner()), (2, 0));
    let value: &RwLock<[u8]> = &RwLock::new([1, 2]);
    assert_eq!(value.read().len(), 2);
}

#[test]
fn read_recursive_passes_a_queued_writer_and_waits_for_one_that_holds_the_lock() {
    let lock = RwLock::new(1);
    let outer = lock.read();
    let mut writer = Task::queued(lock.write_async());
    // An ordinary read comes too late once the lock is reserved; this one is not.
    RwLockReadGuard::unlock_fair(lock.read());
    assert!(lock.try_read().is_none(), "reserved for the writer");
    assert_eq!(*lock.read_recursive(), *outer);
    drop(outer);
    let std::task::Poll::Ready(mut write) = writer.poll() else { panic!("nobody reads any more") };
    *write += 1;
    assert!(forbidden(|| *lock.read_recursive()).0.contains("`read_async`"));
    thread::scope(|scope| {
        let reader = scope.spawn(|| *lock.read_recursive());
        until(|| waiters(&lock) == 1);
        drop(write);
        assert_eq!(reader.join().unwrap(), 2);
    });
}
