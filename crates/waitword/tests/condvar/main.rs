//! The condition variable, from threads and tasks.

#[path = "../common/mod.rs"]
mod common;
mod dropped;
mod owned;
mod room;
mod unpolled;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use common::{Task, block_on, far, poll, until};
use waitword::{Condvar, LockError, Mutex, STALL_TIMEOUT, forbid_blocking};

/// How a waiter waits until the number in the mutex is not zero, and subtracts one.
#[derive(Clone, Copy, Debug)]
enum Way {
    Thread,
    ThreadUntil,
    Task,
    TaskUntil,
    TaskOwned,
}

const WAYS: [Way; 5] = [Way::Thread, Way::ThreadUntil, Way::Task, Way::TaskUntil, Way::TaskOwned];

impl Way {
    fn take(self, tokens: &Arc<Mutex<u32>>, changed: &Condvar) {
        let is_empty = |tokens: &mut u32| *tokens == 0;
        match self {
            Way::Thread => {
                let mut guard = tokens.lock();
                changed.wait_while(&mut guard, is_empty);
                *guard -= 1;
            }
            Way::ThreadUntil => {
                let mut guard = tokens.lock();
                changed.wait_while_until(&mut guard, far(), is_empty).unwrap();
                *guard -= 1;
            }
            Way::Task => smol::future::block_on(async {
                *changed.wait_while_async(tokens.lock_async().await, is_empty).await -= 1;
            }),
            Way::TaskUntil => smol::future::block_on(async {
                let guard = tokens.lock_async().await;
                let (mut guard, result) = changed.wait_while_async_until(guard, far(), is_empty).await;
                result.unwrap();
                *guard -= 1;
            }),
            Way::TaskOwned => smol::future::block_on(async {
                *changed.wait_while_async(tokens.lock_owned_async().await, is_empty).await -= 1;
            }),
        }
    }
}

/// As many tokens as waiters, in every way at once; handed out one by one, and all together; with the mutex
/// held during the notify and not. Each waiter gets one.
#[test]
fn each_notify_ends_one_wait_of_any_kind() {
    for round in 0..8 {
        let (tokens, changed) = (Arc::new(Mutex::new(0)), Condvar::new());
        thread::scope(|scope| {
            for way in WAYS.into_iter().chain(WAYS) {
                let (tokens, changed) = (&tokens, &changed);
                scope.spawn(move || way.take(tokens, changed));
            }
            let count = 2 * WAYS.len() as u32;
            if round % 2 == 0 {
                for _ in 0..count {
                    let mut guard = tokens.lock();
                    *guard += 1;
                    if round % 4 == 0 {
                        drop(guard);
                        changed.notify_one();
                    } else {
                        changed.notify_one();
                        drop(guard);
                    }
                }
            } else {
                let mut guard = tokens.lock();
                *guard += count;
                if round % 4 == 1 {
                    drop(guard);
                }
                changed.notify_all();
            }
        });
        assert_eq!(*tokens.lock(), 0);
        assert_eq!(changed.notify_all(), 0);
    }
}

/// A bounded queue with many at both ends: nothing is lost, nothing doubled.
#[test]
fn a_bounded_queue_passes_everything_on_once() {
    const EACH: usize = 2_000;
    let (queue, not_full, not_empty) = (Mutex::new(VecDeque::new()), Condvar::new(), Condvar::new());
    let sum = AtomicUsize::new(0);
    let push = |item| {
        let mut guard = queue.lock();
        not_full.wait_while(&mut guard, |queue: &mut VecDeque<usize>| queue.len() >= 4);
        guard.push_back(item);
        drop(guard);
        not_empty.notify_one();
    };
    let pop_async = async || {
        let mut guard = not_empty.wait_while_async(queue.lock_async().await, |queue| queue.is_empty()).await;
        let item = guard.pop_front().unwrap();
        not_full.notify_one();
        item
    };
    thread::scope(|scope| {
        let mut threads = Vec::new();
        for producer in 0..3 {
            let push = &push;
            threads.push(scope.spawn(move || (1..=EACH).for_each(|n| push(3 * n + producer))));
        }
        for consumer in 0..3 {
            let (sum, queue, not_empty, not_full, pop_async) =
                (&sum, &queue, &not_empty, &not_full, &pop_async);
            threads.push(scope.spawn(move || {
                for _ in 0..EACH {
                    let item = if consumer == 0 {
                        let mut guard = queue.lock();
                        not_empty.wait_while(&mut guard, |queue| queue.is_empty());
                        let item = guard.pop_front().unwrap();
                        drop(guard);
                        not_full.notify_one();
                        item
                    } else {
                        block_on(pop_async())
                    };
                    sum.fetch_add(item, Ordering::Relaxed);
                }
            }));
        }
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    let all: usize = (0..3).flat_map(|producer| (1..=EACH).map(move |n| 3 * n + producer)).sum();
    assert_eq!(sum.into_inner(), all);
    assert!(queue.into_inner().is_empty());
}

/// FIFO; and a notify_all wakes no task that cannot have the mutex (wait morphing).
#[test]
fn notified_waiters_get_the_mutex_in_turn_and_one_is_woken_at_a_time() {
    let (mutex, changed) = (Mutex::new(()), Condvar::new());
    let mut waits: Vec<_> = (0..5)
        .map(|_| {
            let mut wait = Task::new(changed.wait_async(mutex.lock()));
            assert!(wait.poll().is_pending());
            wait
        })
        .collect();
    assert!(!mutex.is_locked());
    let notified = Instant::now();
    assert_eq!(changed.notify_all(), 5);
    while !waits.is_empty() {
        // On a slow machine the watchdog may have signalled others, too.
        let assert_woken = |waits: &[Task<'_, _>], first: bool, why| {
            let woken: Vec<_> = waits.iter().map(Task::is_woken).collect();
            let expected: Vec<_> = (0..waits.len()).map(|waiter| waiter == 0 && first).collect();
            assert!(woken == expected || notified.elapsed() >= STALL_TIMEOUT, "{why}: {woken:?}");
        };
        assert_woken(&waits, true, "one is woken");
        let Poll::Ready(guard) = waits.remove(0).poll() else {
            panic!("it was signalled, and the mutex is free")
        };
        assert_woken(&waits, false, "none is woken while the mutex is held");
        drop(guard);
    }
}

/// A wait is queued before the mutex is free: what comes under the mutex after it, notifies it.
#[test]
fn a_wait_is_queued_before_the_mutex_is_free() {
    let (mutex, changed) = (Mutex::new(()), Condvar::new());
    let mut wait = Box::pin(changed.wait_async(mutex.lock()));
    assert!(mutex.try_lock().is_none(), "a wait that was not polled holds the mutex");
    assert_eq!(changed.notify_one(), 0);
    assert!(poll(wait.as_mut()).is_pending());
    let guard = mutex.try_lock().unwrap();
    assert_eq!(changed.notify_one(), 1);
    assert!(poll(wait.as_mut()).is_pending(), "notified, and waits for the mutex");
    drop(guard);
    assert!(poll(wait.as_mut()).is_ready());
}

/// A notify that counted a wait is what it ends with, though its time is up before it gets the mutex.
#[test]
fn a_notify_in_time_counts_though_the_mutex_comes_late() {
    let (mutex, changed) = (Mutex::new(()), Condvar::new());
    // On a machine so slow, the time may be up before the first poll.
    let queued = (1..24).find_map(|doublings| {
        let deadline = Instant::now() + Duration::from_millis(1 << doublings);
        let mut wait = Box::pin(changed.wait_async_until(mutex.lock(), deadline));
        poll(wait.as_mut()).is_pending().then_some((wait, deadline))
    });
    let (mut wait, deadline) = queued.expect("it was polled within hours");
    let guard = mutex.lock();
    let notified = changed.notify_one();
    until(|| Instant::now() > deadline);
    let polled = poll(wait.as_mut());
    assert!(polled.is_pending(), "the mutex is held");
    drop(guard);
    let (_guard, result) = smol::future::block_on(wait);
    assert_eq!(result.is_ok(), notified == 1);
}

#[test]
fn a_wait_where_blocking_is_forbidden_panics_and_keeps_the_mutex() {
    let (mutex, changed) = (Mutex::new(()), Condvar::new());
    let must_not = forbid_blocking();
    let mut guard = mutex.lock();
    assert_eq!(changed.wait_for(&mut guard, Duration::from_secs(3600)), Err(LockError::BlockingForbidden));
    changed.wait_while(&mut guard, |()| false);
    let panic =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| changed.wait(&mut guard))).unwrap_err();
    assert!(panic.downcast_ref::<&str>().unwrap().contains("wait_async"));
    assert!(mutex.is_locked());
    drop((guard, must_not));
    assert!(!mutex.is_locked());
}

#[test]
fn one_mutex_at_a_time() {
    let (one, other, changed) = (Mutex::new(()), Mutex::new(()), Condvar::new());
    let mut wait = Box::pin(changed.wait_async(one.lock()));
    assert!(poll(wait.as_mut()).is_pending());
    let mut guard = other.lock();
    let wrong = || changed.wait_for(&mut guard, Duration::ZERO);
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(wrong)).unwrap_err();
    assert!(panic.downcast_ref::<&str>().unwrap().contains("another mutex"));
    assert!(other.is_locked(), "and keeps it");
    drop(wait);
    assert_eq!(changed.wait_for(&mut guard, Duration::ZERO), Err(LockError::TIMED_OUT));
}
