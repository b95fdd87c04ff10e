//! Readers and writers from threads and tasks, on three executors, in every way to get in: writers are alone, readers see
//! nothing half done, and no waiter is forgotten.

use std::future::Future;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crate::common::{PlainCounter, block_on};
use waitword::{
    LockError, OwnedRwLockUpgradableReadGuard, OwnedRwLockWriteGuard, RwLock, RwLockUpgradableReadGuard,
    RwLockWriteGuard,
};

const ROUNDS: u64 = 2_000;

/// Two counters that are equal whenever there is no writer.
#[derive(Default)]
struct Pair {
    left: PlainCounter,
    right: PlainCounter,
}

impl Pair {
    fn increment(&self) {
        self.left.increment();
        self.right.increment();
    }

    fn check(&self) {
        assert_eq!(self.left.get(), self.right.get(), "beside a writer");
    }
}

#[derive(Default)]
struct Shared {
    pair: RwLock<Pair>,
    /// What the counters should come to.
    written: AtomicU64,
}

impl Shared {
    fn write<G: Deref<Target = Pair>>(&self, guard: G) -> G {
        guard.increment();
        self.written.fetch_add(1, Ordering::Relaxed);
        guard
    }

    fn unless_timed_out<G>(&self, result: Result<G, LockError>, then: impl FnOnce(G)) {
        match result {
            Ok(guard) => then(guard),
            Err(error) => assert_eq!(error, LockError::TimedOut),
        }
    }
}

fn as_thread(shared: &Arc<Shared>, seed: u64) {
    let pair = &shared.pair;
    for round in 0..ROUNDS {
        // Short enough to end before there is room now and then, also at the very moment of a call.
        let timeout = Duration::from_micros(round % 50);
        match (seed + round) % 10 {
            0 => drop(pair.try_write().map(|guard| shared.write(guard))),
            1 => shared.unless_timed_out(pair.write_for(timeout), |guard| drop(shared.write(guard))),
            2 => shared.unless_timed_out(pair.read_for(timeout), |guard| guard.check()),
            3 => drop(shared.write(pair.write())),
            4 => {
                let reader = pair.upgradable_read();
                reader.check();
                let writer = shared.write(RwLockUpgradableReadGuard::upgrade(reader));
                let again = RwLockWriteGuard::downgrade_to_upgradable(writer);
                again.check();
                RwLockUpgradableReadGuard::downgrade(again).check();
            }
            5 => {
                let reader = pair.upgradable_read();
                match RwLockUpgradableReadGuard::upgrade_for(reader, timeout) {
                    Ok(writer) => RwLockWriteGuard::downgrade(shared.write(writer)).check(),
                    Err(not) => not.guard.check(),
                }
            }
            6 => {
                let _outer = pair.read();
                pair.try_read_recursive().expect("read already").check();
            }
            _ => pair.read().check(),
        }
    }
}

async fn as_task(shared: Arc<Shared>, seed: u64) {
    let pair = &shared.pair;
    for round in 0..ROUNDS {
        let timeout = Duration::from_micros(round % 50);
        match (seed + round) % 10 {
            0 => shared
                .unless_timed_out(pair.write_async_for(timeout).await, |guard| drop(shared.write(guard))),
            1 => shared.unless_timed_out(pair.read_async_for(timeout).await, |guard| guard.check()),
            2 => {
                let guard = pair.write_async().await;
                smol::future::yield_now().await;
                drop(shared.write(guard));
            }
            3 => {
                let reader = pair.upgradable_read_async().await;
                reader.check();
                let writer = shared.write(RwLockUpgradableReadGuard::upgrade_async(reader).await);
                RwLockWriteGuard::downgrade(writer).check();
            }
            4 => {
                let reader = pair.upgradable_read_async().await;
                match RwLockUpgradableReadGuard::upgrade_async_for(reader, timeout).await {
                    Ok(writer) => drop(shared.write(writer)),
                    Err(not) => not.guard.check(),
                }
            }
            // Dropped while they wait, perhaps after their signal.
            5 => {
                let dropped = async { drop(shared.write(pair.write_async().await)) };
                smol::future::or(dropped, smol::future::yield_now()).await;
            }
            6 => {
                let dropped = async { pair.read_async().await.check() };
                smol::future::or(dropped, smol::future::yield_now()).await;
            }
            7 => {
                let dropped = async {
                    let reader = pair.upgradable_read_async().await;
                    drop(shared.write(RwLockUpgradableReadGuard::upgrade_async(reader).await));
                };
                smol::future::or(dropped, smol::future::yield_now()).await;
            }
            _ => {
                let guard = pair.read_async().await;
                smol::future::yield_now().await;
                guard.check();
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
    let pair = shared.pair.try_write().expect("it is free");
    pair.check();
    assert_eq!(pair.left.get(), shared.written.load(Ordering::Relaxed));
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

#[test]
fn with_shares_in_the_lock() {
    let lock = Arc::new(RwLock::new(0));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    let reader = lock.upgradable_read_owned();
                    let mut writer = OwnedRwLockUpgradableReadGuard::upgrade(reader);
                    *writer += 1;
                    let seen = *writer;
                    assert_eq!(*OwnedRwLockWriteGuard::downgrade(writer), seen);
                }
            });
            scope.spawn(|| {
                block_on(async {
                    for _ in 0..ROUNDS {
                        let reader = lock.upgradable_read_owned_async().await;
                        *OwnedRwLockUpgradableReadGuard::upgrade_async(reader).await += 1;
                        *lock.write_owned_async().await += 1;
                        assert!(*lock.read_owned_async().await > 1);
                    }
                });
            });
        }
    });
    assert_eq!(Arc::strong_count(&lock), 1);
    assert_eq!(*lock.read(), 9 * ROUNDS);
}
