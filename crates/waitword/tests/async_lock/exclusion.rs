//! Many threads and tasks, on four executors, increment one counter under one lock, and nothing is lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use waitword::{AsyncLock, LockError};

use crate::common::PlainCounter;
use crate::common::stress::{self, Crowd};

const ROUNDS: u64 = 2_000;

#[derive(Default)]
struct Counted {
    lock: AsyncLock,
    counter: PlainCounter,
    /// What the counter should come to.
    entered: AtomicU64,
}

impl Counted {
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
            Err(error) => assert_eq!(error, LockError::TIMED_OUT),
        }
    }
}

impl Crowd for Counted {
    fn as_thread(&self, seed: u64) {
        for round in 0..ROUNDS {
            match (seed + round) % 4 {
                0 => {
                    if self.lock.try_lock() {
                        self.increment_and_unlock();
                    }
                }
                // Short enough to end before the lock is free now and then, also at the very moment of a call.
                1 => self.increment_unless_timed_out(self.lock.lock_for(Duration::from_micros(round % 50))),
                _ => {
                    self.lock.lock();
                    self.increment_and_unlock();
                }
            }
        }
    }

    async fn as_task(self: Arc<Self>, seed: u64) {
        for round in 0..ROUNDS {
            match (seed + round) % 5 {
                0 => {
                    let timeout = Duration::from_micros(round % 50);
                    self.increment_unless_timed_out(self.lock.lock_async_for(timeout).await);
                }
                1 => self.lock.execute_locked(|| self.increment()).await,
                2 => {
                    let locked = self.lock.execute_locked_async(async || {
                        smol::future::yield_now().await;
                        self.increment();
                    });
                    locked.await;
                }
                // Dropped while it waits, perhaps after its signal.
                3 => {
                    let dropped = async {
                        self.lock.lock_async().await;
                        self.increment_and_unlock();
                    };
                    smol::future::or(dropped, smol::future::yield_now()).await;
                }
                _ => {
                    self.lock.lock_async().await;
                    self.increment_and_unlock();
                }
            }
        }
    }

    fn check(&self) {
        assert_eq!(self.counter.get(), self.entered.load(Ordering::Relaxed));
        assert!(!self.lock.is_locked());
    }
}

stress::on_every_executor!(Counted);
