//! ReadersAndWriters and writers from threads and tasks, on three executors, in every way to get in: writers are alone, readers see
//! nothing half done, and no waiter is forgotten.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use waitword::{
    LockError, OwnedRwLockUpgradableReadGuard, OwnedRwLockWriteGuard, RwLock, RwLockUpgradableReadGuard,
    RwLockWriteGuard,
};

use crate::common::stress::{self, Crowd};
use crate::common::{PlainCounter, block_on};

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
struct ReadersAndWriters {
    pair: RwLock<Pair>,
    /// What the counters should come to.
    written: AtomicU64,
}

impl ReadersAndWriters {
    fn write<G: Deref<Target = Pair>>(&self, guard: G) -> G {
        guard.increment();
        self.written.fetch_add(1, Ordering::Relaxed);
        guard
    }

    fn unless_timed_out<G>(&self, result: Result<G, LockError>, then: impl FnOnce(G)) {
        match result {
            Ok(guard) => then(guard),
            Err(error) => assert_eq!(error, LockError::TIMED_OUT),
        }
    }
}

impl Crowd for ReadersAndWriters {
    fn as_thread(&self, seed: u64) {
        let pair = &self.pair;
        for round in 0..ROUNDS {
            // Short enough to end before there is room now and then, also at the very moment of a call.
            let timeout = Duration::from_micros(round % 50);
            match (seed + round) % 10 {
                0 => drop(pair.try_write().map(|guard| self.write(guard))),
                1 => self.unless_timed_out(pair.write_for(timeout), |guard| drop(self.write(guard))),
                2 => self.unless_timed_out(pair.read_for(timeout), |guard| guard.check()),
                3 => drop(self.write(pair.write())),
                4 => {
                    let reader = pair.upgradable_read();
                    reader.check();
                    let writer = self.write(RwLockUpgradableReadGuard::upgrade(reader));
                    let again = RwLockWriteGuard::downgrade_to_upgradable(writer);
                    again.check();
                    RwLockUpgradableReadGuard::downgrade(again).check();
                }
                5 => {
                    let reader = pair.upgradable_read();
                    match RwLockUpgradableReadGuard::upgrade_for(reader, timeout) {
                        Ok(writer) => RwLockWriteGuard::downgrade(self.write(writer)).check(),
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

    async fn as_task(self: Arc<Self>, seed: u64) {
        let pair = &self.pair;
        for round in 0..ROUNDS {
            let timeout = Duration::from_micros(round % 50);
            match (seed + round) % 10 {
                0 => self
                    .unless_timed_out(pair.write_async_for(timeout).await, |guard| drop(self.write(guard))),
                1 => self.unless_timed_out(pair.read_async_for(timeout).await, |guard| guard.check()),
                2 => {
                    let guard = pair.write_async().await;
                    smol::future::yield_now().await;
                    drop(self.write(guard));
                }
                3 => {
                    let reader = pair.upgradable_read_async().await;
                    reader.check();
                    let writer = self.write(RwLockUpgradableReadGuard::upgrade_async(reader).await);
                    RwLockWriteGuard::downgrade(writer).check();
                }
                4 => {
                    let reader = pair.upgradable_read_async().await;
                    match RwLockUpgradableReadGuard::upgrade_async_for(reader, timeout).await {
                        Ok(writer) => drop(self.write(writer)),
                        Err(not) => not.guard.check(),
                    }
                }
                // Dropped while they wait, perhaps after their signal.
                5 => {
                    let dropped = async { drop(self.write(pair.write_async().await)) };
                    smol::future::or(dropped, smol::future::yield_now()).await;
                }
                6 => {
                    let dropped = async { pair.read_async().await.check() };
                    smol::future::or(dropped, smol::future::yield_now()).await;
                }
                7 => {
                    let dropped = async {
                        let reader = pair.upgradable_read_async().await;
                        drop(self.write(RwLockUpgradableReadGuard::upgrade_async(reader).await));
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

    fn check(&self) {
        let pair = self.pair.try_write().expect("it is free");
        pair.check();
        assert_eq!(pair.left.get(), self.written.load(Ordering::Relaxed));
    }
}

stress::on_every_executor!(ReadersAndWriters);

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
