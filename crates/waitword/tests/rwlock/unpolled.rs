//! Futures of a readers-writer lock that are not polled (Oxide RFD 609), beside readers: the waiters behind them get in all the
//! same. Writers alone are in `common/unpolled.rs`.
//!
//! None of these tests measures time. Each would hang if an unpolled future could keep the lock from the others.

use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;

use waitword::{RwLock, RwLockReadGuard};

use crate::common::{Task, block_on};

/// The shape of the report, with every combination of what the unpolled branch and the handler want that has a reader.
#[test]
fn select_whose_handler_wants_what_an_unpolled_branch_was_offered() {
    async fn body(lock: Arc<RwLock<u32>>, branch_writes: bool, handler_writes: bool) {
        async fn lock_once(lock: &RwLock<u32>, writes: bool) {
            match writes {
                true => *lock.write_async().await += 1,
                false => assert!(*lock.read_async().await < 100),
            }
        }
        let held = lock.write_owned_async().await;
        let (send, receive) = tokio::sync::oneshot::channel();
        let releases = tokio::spawn(async move {
            let () = receive.await.unwrap();
            drop(held);
        });
        let mut branch = pin!(lock_once(&lock, branch_writes));
        tokio::select! {
            biased;
            () = &mut branch => unreachable!("a writer holds it"),
            () = tokio::task::yield_now() => {
                send.send(()).unwrap();
                // The branch is signalled, and this waits behind it.
                lock_once(&lock, handler_writes).await;
            }
        }
        releases.await.unwrap();
        branch.await;
        assert!(lock.try_write().is_some());
    }
    let current = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let multi = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    for (branch_writes, handler_writes) in [(true, false), (false, true), (false, false)] {
        current.block_on(body(Arc::default(), branch_writes, handler_writes));
        let body = body(Arc::default(), branch_writes, handler_writes);
        multi.block_on(async { tokio::spawn(body).await.unwrap() });
    }
}

/// A writer's future was polled once, while a reader has the lock, and never again: it waits for that reader, which does not leave
/// before others have read.
#[test]
fn readers_behind_an_unpolled_writer_while_a_reader_stays() {
    let lock = RwLock::new(1);
    let stays = lock.read();
    let mut writer = Task::new(lock.write_async());
    assert!(writer.poll().is_pending());
    let mut held = Some(lock.read());
    // Until it is the writer's turn.
    while let Some(next) = lock.try_read() {
        held = Some(next);
    }
    drop(held);
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
    let mut reader = Task::new(lock.read_async());
    let mut writer = Task::new(lock.write_async());
    let mut behind = Task::new(lock.read_async());
    assert!(reader.poll().is_pending() && writer.poll().is_pending() && behind.poll().is_pending());
    drop(first);
    let stays = reader.finish();
    assert!(writer.is_woken() && writer.poll().is_pending());
    assert_eq!(*behind.finish(), *stays);
    drop(stays);
    *writer.finish() += 1;
}

#[test]
fn threads_behind_unpolled_futures() {
    for (writes, threads_write) in [(true, false), (false, true), (false, false)] {
        let lock = RwLock::new(0);
        let held = lock.write();
        let mut futures = Vec::new();
        for _ in 0..3 {
            let mut future = Task::new(async {
                if writes {
                    drop(lock.write_async().await);
                } else {
                    drop(lock.read_async().await);
                }
            });
            assert!(future.poll().is_pending());
            futures.push(future);
        }
        let (send, receive) = channel();
        thread::scope(|scope| {
            for _ in 0..3 {
                let (lock, send) = (&lock, send.clone());
                scope.spawn(move || {
                    send.send(()).unwrap();
                    if threads_write {
                        *lock.write() += 1;
                    } else {
                        assert_eq!(*lock.read(), 0);
                    }
                });
            }
            (0..3).for_each(|_| receive.recv().unwrap());
            drop(held);
        });
        drop(futures);
        assert!(lock.try_write().is_some());
    }
}

/// One reader inside and one queued in the same task, with a writer of another in between: the first one leaves.
#[test]
fn futures_of_which_one_at_a_time_is_polled() {
    let lock = RwLock::new(0);
    let held = lock.write();
    block_on(async {
        let mut buffered: Vec<_> = (0..4)
            .map(|index| {
                let lock = &lock;
                Box::pin(async move {
                    match index % 2 {
                        0 => drop::<RwLockReadGuard<'_, _>>(lock.read_async().await),
                        _ => *lock.write_async().await += 1,
                    }
                })
            })
            .collect();
        for future in &mut buffered {
            std::future::poll_fn(|cx| {
                assert!(future.as_mut().poll(cx).is_pending());
                std::task::Poll::Ready(())
            })
            .await;
        }
        drop(held);
        // From the last, so that all those not polled are before it.
        for future in buffered.iter_mut().rev() {
            future.await;
        }
    });
    assert_eq!(lock.into_inner(), 2);
}
