//! Crowds of threads and tasks on one lock, under random schedules: too many for loom.
//!
//! `cargo xtask shuttle` runs them, and prints its command line.
//!
//! Each of them takes the lock a few times in ways drawn at random, as a thread, as a task, or as a task that is dropped after
//! a poll or two. A violated exclusion fails the model, and in the end the lock is free. A thread makes the watchdog's passes
//! meanwhile, as the clock would.
#![cfg(waitword_shuttle)]

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use shuttle::future::block_on;
use shuttle::rand::{Rng, thread_rng};
use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::thread;
use shuttle::{Config, Runner};
use waitword::word::Table;
use waitword::{Condvar, Mutex, RwLock, Semaphore};

const CROWD: usize = 5;
const TIMES: usize = 3;

/// The holders of the lock at this moment, by weight: an exclusive holder has the whole weight.
#[derive(Default)]
struct Inside(AtomicUsize);

impl Inside {
    fn visit(&self, weight: usize, room: usize) {
        let before = self.0.fetch_add(weight, Ordering::SeqCst);
        assert!(before + weight <= room, "{before} are inside, and {weight} more");
        thread::yield_now();
        self.0.fetch_sub(weight, Ordering::SeqCst);
    }
}

/// Runs `once` for each of the crowd `TIMES` times, beside passes of the watchdog, and `end` when all are through.
fn crowd<T: Send + Sync + 'static>(new: fn() -> T, once: fn(&T), end: fn(&T)) {
    let body = move || {
        let (shared, running) = (Arc::new(new()), Arc::new(AtomicUsize::new(CROWD)));
        let crowd = [(); CROWD].map(|()| {
            let (shared, running) = (Arc::clone(&shared), Arc::clone(&running));
            thread::spawn(move || {
                (0..TIMES).for_each(|_| once(&shared));
                running.fetch_sub(1, Ordering::SeqCst);
            })
        });
        while running.load(Ordering::SeqCst) > 0 {
            Table::global().signal_stalled();
            thread::yield_now();
        }
        crowd.into_iter().for_each(|thread| thread.join().unwrap());
        end(&shared);
    };
    let config = || {
        let mut config = Config::new();
        // It warns of every ordering that is not sequentially consistent; loom checks these.
        config.silence_warnings = true;
        config
    };
    Runner::new(RandomScheduler::new(4_000), config()).run(body);
    // Few switches at the worst places find what many at random ones do not.
    Runner::new(PctScheduler::new(3, 1_000), config()).run(body);
}

fn draw(below: usize) -> usize {
    thread_rng().gen_range(0..below)
}

/// As a task that is dropped after some polls, woken or not.
fn dropped<F: Future>(future: F) -> Option<F::Output> {
    let mut future: Pin<Box<F>> = Box::pin(future);
    for _ in 0..1 + draw(3) {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return Some(output);
        }
        thread::yield_now();
    }
    None
}

#[test]
fn mutex() {
    crowd(
        <(Mutex<()>, Inside)>::default,
        |(mutex, inside)| {
            let guard = match draw(4) {
                0 => Some(mutex.lock()),
                1 => Some(block_on(mutex.lock_async())),
                2 => dropped(mutex.lock_async()),
                _ => mutex.try_lock(),
            };
            guard.iter().for_each(|_| inside.visit(1, 1));
        },
        |(mutex, _)| assert!(mutex.try_lock().is_some()),
    );
}

#[test]
fn semaphore() {
    crowd(
        || (Semaphore::new(3), Inside::default()),
        |(semaphore, inside)| {
            let n = 1 + draw(3);
            let permits = match draw(4) {
                0 => semaphore.acquire_many(n).ok(),
                1 => block_on(semaphore.acquire_many_async(n)).ok(),
                2 => dropped(semaphore.acquire_many_async(n)).and_then(Result::ok),
                _ => semaphore.try_acquire_many(n).ok(),
            };
            permits.iter().for_each(|_| inside.visit(n, 3));
        },
        |(semaphore, _)| assert!(semaphore.try_acquire_many(3).is_ok()),
    );
}

#[test]
fn rwlock() {
    crowd(
        <(RwLock<()>, Inside)>::default,
        |(lock, inside)| {
            let read = match draw(6) {
                0 => Some(lock.read()),
                1 => Some(block_on(lock.read_async())),
                2 => dropped(lock.read_async()),
                way => {
                    let write = match way {
                        3 => Some(lock.write()),
                        4 => Some(block_on(lock.write_async())),
                        _ => dropped(lock.write_async()),
                    };
                    write.iter().for_each(|_| inside.visit(CROWD, CROWD));
                    return;
                }
            };
            read.iter().for_each(|_| inside.visit(1, CROWD));
        },
        |(lock, _)| assert!(lock.try_write().is_some()),
    );
}

/// Tokens are put under the mutex and taken by waiters, as many as are put; some waits are dropped and forward their notify.
#[test]
fn condvar() {
    crowd(
        <(Mutex<usize>, Condvar)>::default,
        |(mutex, changed)| {
            let is_empty = |tokens: &mut usize| *tokens == 0;
            // Each waiter has put one before, so that there is one for each.
            *mutex.lock() += 1;
            changed.notify_one();
            if draw(3) == 0 {
                drop(dropped(changed.wait_async(mutex.lock())));
            }
            match draw(2) {
                0 => {
                    let mut guard = mutex.lock();
                    changed.wait_while(&mut guard, is_empty);
                    *guard -= 1;
                }
                _ => {
                    *block_on(async { changed.wait_while_async(mutex.lock_async().await, is_empty).await }) -=
                        1
                }
            }
        },
        |(mutex, changed)| {
            assert_eq!(mutex.try_lock().as_deref(), Some(&0));
            assert_eq!(changed.notify_all(), 0);
        },
    );
}
