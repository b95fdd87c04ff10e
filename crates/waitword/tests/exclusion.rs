//! Many threads and tasks, on four executors, increment one counter under one lock, and nothing is lost.

mod common;

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use common::{PlainCounter, block_on};
use waitword::{AsyncLock, LockError};

const ROUNDS: u64 = 2_000;

#[derive(Default)]
struct Shared {
    lock: AsyncLock,
    counter: PlainCounter,
    /// What the counter should come to.
    entered: AtomicU64,
}

impl Shared {
    fn increment(&self) {
        self.counter.increment();
        self.entered.fetch_add(1, Ordering::Relaxed);
    }

    fn increment_and_unlock(&self) {
        self.increment();
        self.lock.unlock().unwrap();
    }

    fn increment_unless_timed_out(&self, result: Result<(), LockError>) {
        match result {
            Ok(()) => self.increment_and_unlock(),
            Err(error) => assert_eq!(error, LockError::TimedOut),
        }
    }
}

fn as_thread(shared: &Shared, seed: u64) {
    for round in 0..ROUNDS {
        match (seed + round) % 4 {
            0 => {
                if shared.lock.try_lock() {
                    shared.increment_and_unlock();
                }
            }
            // Short enough to end before the lock is free now and then, also at the very moment of a call.
            1 => shared.increment_unless_timed_out(shared.lock.lock_for(Duration::from_micros(round % 50))),
            _ => {
                shared.lock.lock();
                shared.increment_and_unlock();
            }
        }
    }
}

async fn as_task(shared: Arc<Shared>, seed: u64) {
    for round in 0..ROUNDS {
        match (seed + round) % 5 {
            0 => {
                let timeout = Duration::from_micros(round % 50);
                shared.increment_unless_timed_out(shared.lock.lock_async_for(timeout).await);
            }
            1 => shared.lock.execute_locked(|| shared.increment()).await,
            2 => {
                let locked = shared.lock.execute_locked_async(async || {
                    smol::future::yield_now().await;
                    shared.increment();
                });
                locked.await;
            }
            // Dropped while it waits, perhaps after its signal.
            3 => {
                let dropped = async {
                    shared.lock.lock_async().await;
                    shared.increment_and_unlock();
                };
                smol::future::or(dropped, smol::future::yield_now()).await;
            }
            _ => {
                shared.lock.lock_async().await;
                shared.increment_and_unlock();
            }
        }
    }
}

/// Runs `start`, which starts some of the acquirers, beside two threads and a task on a thread of its own.
fn stress(start: impl FnOnce(&Arc<Shared>)) {
    let shared = Arc::new(Shared::default());
    thread::scope(|scope| {
        for seed in 0..2 {
            let shared = &shared;
            scope.spawn(move || as_thread(shared, seed));
        }
        scope.spawn(|| block_on(as_task(Arc::clone(&shared), 2)));
        start(&shared);
    });
    assert_eq!(shared.counter.get(), shared.entered.load(Ordering::Relaxed));
    assert!(!shared.lock.is_locked());
}

fn tasks(shared: &Arc<Shared>) -> impl Iterator<Item = impl Future<Output = ()> + Send + 'static> {
    (0..4).map(|seed| as_task(Arc::clone(shared), seed))
}

#[test]
fn threads_alone() {
    stress(|shared| as_thread(shared, 3));
}

#[test]
fn threads_and_hand_polled_tasks() {
    stress(|shared| {
        thread::scope(|scope| tasks(shared).for_each(|task| drop(scope.spawn(|| block_on(task)))));
    });
}

#[test]
fn threads_and_tokio_on_one_thread() {
    stress(|shared| {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            for task in tasks(shared).map(tokio::spawn).collect::<Vec<_>>() {
                task.await.unwrap();
            }
        });
    });
}

#[test]
fn threads_and_tokio_on_many_threads() {
    stress(|shared| {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(3).build().unwrap();
        runtime.block_on(async {
            for task in tasks(shared).map(tokio::spawn).collect::<Vec<_>>() {
                task.await.unwrap();
            }
        });
    });
}

#[test]
fn threads_and_smol() {
    stress(|shared| {
        smol::block_on(async {
            for task in tasks(shared).map(smol::spawn).collect::<Vec<_>>() {
                task.await;
            }
        });
    });
}
