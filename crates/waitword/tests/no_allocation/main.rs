//! A wait allocates nothing, neither a thread's nor a task's, with a deadline or without.

#[path = "../common/mod.rs"]
mod common;
mod contended;
#[path = "../../../waitword-core/tests/common/counting.rs"]
mod counting;

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::task::Poll;
use std::time::Duration;
use std::{hint, thread};

use common::{far, poll, until};
use waitword::word::{AsyncLock, Parker, Table};
use waitword::{Barrier, Condvar, Event, LazyLock, LockError, Mutex, OnceLock, WaitGroup};

fn allocations(run: impl FnOnce()) -> usize {
    let before = counting::allocations();
    run();
    counting::allocations() - before
}

/// The program's first wait makes the table. What that allocates from then on follows the number of words that are waited on, and the
/// waiter that adds the next word pays. So the tests wait one after the other, at a lock that has no place in the table.
fn alone() -> std::sync::MutexGuard<'static, ()> {
    static ONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    Table::global();
    ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Nothing is, by waits of tasks. The first starts the timer's thread.
#[track_caller]
fn allocates_nothing(mut waits: impl FnMut()) {
    let _alone = alone();
    waits();
    assert_eq!(allocations(waits), 0);
}

/// Nothing is, by waits that block a thread, while `others` ends them.
#[track_caller]
fn a_thread_allocates_nothing(waits: impl FnOnce() + Send, others: impl FnOnce()) {
    let _alone = alone();
    let counted = thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            // The thread has its waker for good, and would make it at its first wait; one that is given up may be over before
            // it comes to that.
            Parker::current();
            allocations(waits)
        });
        others();
        waiter.join().unwrap()
    });
    assert_eq!(counted, 0);
}

/// A future that is polled once, and waits.
macro_rules! queued {
    ($name:ident: $future:expr) => {
        let mut $name = pin!($future);
        assert!(poll($name.as_mut()).is_pending());
    };
}
use queued;

const SHORT: Duration = Duration::from_micros(10);

#[test]
fn the_allocator_counts() {
    assert_ne!(allocations(|| drop(hint::black_box(Box::new(1)))), 0);
}

#[test]
fn a_wait_of_a_task_allocates_nothing() {
    let word = AtomicI32::new(0);
    let lock = AsyncLock::on(&word);
    allocates_nothing(|| {
        lock.lock();
        {
            queued!(signalled: lock.lock_async());
            queued!(_dropped: lock.lock_async().deadline(far()));
            lock.unlock().unwrap();
            assert!(poll(signalled.as_mut()).is_ready());
        }
        lock.unlock().unwrap();
    });
}

#[test]
fn a_wait_of_a_thread_allocates_nothing() {
    let word = AtomicI32::new(0);
    let (lock, timed_out) = (AsyncLock::on(&word), AtomicBool::new(false));
    lock.lock();
    let waits = || {
        assert_eq!(lock.lock_for(SHORT), Err(LockError::TimedOut));
        timed_out.store(true, Ordering::SeqCst);
        lock.lock();
        lock.unlock().unwrap();
    };
    a_thread_allocates_nothing(waits, || {
        until(|| timed_out.load(Ordering::SeqCst) && Table::global().waiters(&word) == 1);
        lock.unlock().unwrap();
    });
}

#[test]
fn an_uncontended_lock_allocates_nothing() {
    let lock = AsyncLock::new();
    allocates_nothing(|| {
        assert_eq!(poll(pin!(lock.execute_locked(|| 1))), Poll::Ready(1));
        lock.lock();
        lock.unlock().unwrap();
    });
}

/// The locks without a holder: each is waited for in a future, with a deadline or without, woken and dropped.
#[test]
fn a_wait_of_a_task_without_a_holder_allocates_nothing() {
    allocates_nothing(|| {
        let (event, group, barrier) = (Event::new(), WaitGroup::new(), Barrier::new(3));
        let (cell, lazy) = (OnceLock::new(), LazyLock::<i32>::new(|| 1));
        let token = group.add();
        let mut woken = pin!(async {
            event.wait_async().await;
            group.wait_async().await;
            barrier.wait_async().await;
            cell.wait_async().await;
            LazyLock::force_async(&lazy).await;
        });
        let mut in_time = pin!(async {
            event.wait_async().deadline(far()).await.unwrap();
            group.wait_async().deadline(far()).await.unwrap();
            barrier.wait_async().deadline(far()).await.unwrap();
            cell.get_or_init_async(async || 1).await;
            LazyLock::force_async(&lazy).await;
        });
        queued!(_dropped: event.wait_async().deadline(far()));
        let mut both = || (poll(woken.as_mut()).is_ready(), poll(in_time.as_mut()).is_ready());
        assert_eq!(both(), (false, false), "at the event");
        event.notify_all();
        assert_eq!(both(), (false, false), "at the group");
        drop(token);
        assert_eq!(both(), (false, false), "at the barrier");
        assert!(barrier.try_wait().is_some());
        assert_eq!(both(), (false, true), "the first is at the cell, which the second sets");
        assert!(poll(woken.as_mut()).is_ready());
    });
}

/// Not for a wait: the `Arc`s were there before.
#[test]
fn a_wait_that_has_a_share_in_what_it_waits_for_allocates_nothing() {
    let (event, group) = (Arc::new(Event::new()), Arc::new(WaitGroup::new()));
    let (barrier, condvar, mutex) =
        (Arc::new(Barrier::new(3)), Arc::new(Condvar::new()), Arc::new(Mutex::new(0)));
    allocates_nothing(|| {
        let token = group.add();
        let mut woken = pin!(async {
            event.wait_owned_async().await;
            group.wait_owned_async().await;
            barrier.wait_owned_async().await;
            drop(condvar.wait_owned_async(mutex.lock_owned()).await);
        });
        let mut in_time = pin!(async {
            event.wait_owned_async().deadline(far()).await.unwrap();
            group.wait_owned_async().deadline(far()).await.unwrap();
            barrier.wait_owned_async().deadline(far()).await.unwrap();
            let guard = mutex.lock_owned();
            condvar.wait_while_owned_async(guard, |number| *number == 0).deadline(far()).await.1.unwrap();
        });
        let mut listener = pin!(event.listen_owned());
        assert!(!listener.as_mut().enable());
        let mut both = || (poll(woken.as_mut()).is_ready(), poll(in_time.as_mut()).is_ready());
        assert_eq!(both(), (false, false), "at the event");
        event.notify_all();
        assert!(listener.as_mut().try_wait());
        assert_eq!(both(), (false, false), "at the group");
        drop(token);
        assert_eq!(both(), (false, false), "at the barrier");
        assert!(barrier.try_wait().is_some());
        assert_eq!(both(), (false, false), "at the condition variable");
        *mutex.lock() = 1;
        condvar.notify_all();
        assert_eq!(both(), (true, true));
        *mutex.lock() = 0;
    });
}

#[test]
fn a_wait_of_a_thread_without_a_holder_allocates_nothing() {
    let (event, group, cell) = (Event::new(), WaitGroup::new(), OnceLock::new());
    let token = group.add();
    let (ready, listening) = (AtomicBool::new(false), AtomicBool::new(false));
    let waits = || {
        assert!(event.wait_for(SHORT).is_err());
        ready.store(true, Ordering::SeqCst);
        event.wait();
        let mut listener = pin!(event.listen());
        assert!(!listener.as_mut().try_wait() && listener.as_mut().wait_for(Duration::ZERO).is_err());
        listening.store(true, Ordering::SeqCst);
        listener.as_mut().wait();
        group.wait();
        assert_eq!(cell.wait(), &1);
    };
    a_thread_allocates_nothing(waits, || {
        until(|| ready.load(Ordering::SeqCst) && event.waiters() == 1);
        event.notify_one();
        until(|| listening.load(Ordering::SeqCst));
        event.notify_one();
        until(|| group.waiters() == 1);
        drop(token);
        until(|| cell.waiters() == 1);
        cell.set(1).unwrap();
    });
}
