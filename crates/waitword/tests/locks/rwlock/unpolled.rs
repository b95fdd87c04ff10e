//! Futures of a readers-writer lock that are not polled (Oxide RFD 609), beside readers who stay: the waiters behind them get in all the
//! same.
//!
//! None of these tests measures time. Each would hang if an unpolled future could keep the lock from the others.

use std::thread;

use waitword::RwLock;

use super::stream_of_readers;
use crate::common::{Task, block_on};

/// A writer's future was polled once, while a reader has the lock, and never again: it waits for that reader, which does not leave
/// before others have read.
#[test]
fn readers_behind_an_unpolled_writer_while_a_reader_stays() {
    let lock = RwLock::new(1);
    let stays = lock.read();
    let writer = Task::queued(lock.write_async());
    // Until it is the writer's turn.
    drop(stream_of_readers(&lock, lock.read()));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| assert_eq!(*lock.read(), 1));
        }
        scope.spawn(|| block_on(async { assert_eq!(*lock.read_async().await, 1) }));
    });
    drop(stays);
    *writer.finish() += 1;
    assert_eq!(lock.into_inner(), 2);
}

/// It has rechecked once after its signal, too, and is not polled any more from then on.
#[test]
fn readers_behind_a_writer_that_has_rechecked_in_vain() {
    let lock = RwLock::new(1);
    let first = lock.write();
    let reader = Task::queued(lock.read_async());
    let mut writer = Task::queued(lock.write_async());
    let behind = Task::queued(lock.read_async());
    drop(first);
    let stays = reader.finish();
    assert!(writer.is_woken() && writer.poll().is_pending());
    assert_eq!(*behind.finish(), *stays);
    drop(stays);
    *writer.finish() += 1;
}

/// One reader inside and one queued in the same task, with a writer of another in between: the first one leaves.
#[test]
fn futures_of_which_one_at_a_time_is_polled() {
    let lock = RwLock::new(0);
    let held = lock.write();
    let mut buffered: Vec<_> = (0..4)
        .map(|index| {
            let lock = &lock;
            Task::queued(async move {
                match index % 2 {
                    0 => drop(lock.read_async().await),
                    _ => *lock.write_async().await += 1,
                }
            })
        })
        .collect();
    drop(held);
    // From the last, so that all those not polled are before it.
    while let Some(future) = buffered.pop() {
        future.finish();
    }
    assert_eq!(*lock.read(), 2);
}
