//! `Mutex` and `AsyncLock`: each release signals the next, also if waiters give up.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use waitword::{AsyncLock, Mutex, MutexGuard};

use crate::Scene;
use crate::common::far;
use crate::party::Party;

#[derive(Default)]
pub(crate) struct OneMutex {
    mutex: Arc<Mutex<u64>>,
    entered: AtomicU64,
}

impl OneMutex {
    fn enter(&self, mut guard: MutexGuard<'_, u64>, me: &mut Party) {
        *guard += 1;
        self.entered.fetch_add(1, Ordering::Relaxed);
        if me.one_in(8) {
            MutexGuard::unlock_fair(guard);
        }
    }
}

impl Scene for OneMutex {
    fn new(_parties: usize, _draw: &mut Party) -> Self {
        Self::default()
    }

    fn thread(&self, me: &mut Party) {
        for _ in 0..me.steps() {
            let guard = match me.below(6) {
                0 => self.mutex.try_lock(),
                1 => self.mutex.lock_for(me.short()).ok(),
                2 => self.mutex.lock_until(far()).ok(),
                _ => Some(self.mutex.lock()),
            };
            if let Some(mut guard) = guard {
                me.linger();
                // It blocks, so this is for threads.
                if me.one_in(8) {
                    MutexGuard::bump(&mut guard);
                }
                self.enter(guard, me);
            }
        }
    }

    fn task<'a>(&'a self, me: &'a mut Party) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            for _ in 0..me.steps() {
                let guard = match me.below(6) {
                    0 => me.drop_soon(self.mutex.lock_async()).await,
                    1 => {
                        if let Some(mut guard) = me.drop_soon(self.mutex.lock_owned_async()).await {
                            *guard += 1;
                            self.entered.fetch_add(1, Ordering::Relaxed);
                        }
                        None
                    }
                    2 => self.mutex.lock_async_for(me.short()).await.ok(),
                    3 => self.mutex.lock_async_until(far()).await.ok(),
                    _ => Some(self.mutex.lock_async().await),
                };
                if let Some(guard) = guard {
                    me.linger_async().await;
                    self.enter(guard, me);
                }
            }
        })
    }

    fn check(&self) {
        let mutex = self.mutex.try_lock().expect("it is free");
        assert_eq!(*mutex, self.entered.load(Ordering::Relaxed));
    }
}

#[derive(Default)]
pub(crate) struct OneAsyncLock(AsyncLock);

impl Scene for OneAsyncLock {
    fn new(_parties: usize, _draw: &mut Party) -> Self {
        Self::default()
    }

    fn thread(&self, me: &mut Party) {
        for _ in 0..me.steps() {
            let held = match me.below(6) {
                0 => self.0.try_lock(),
                1 => self.0.lock_for(me.short()).is_ok(),
                2 => self.0.lock_until(far()).is_ok(),
                _ => {
                    self.0.lock();
                    true
                }
            };
            if held {
                me.linger();
                self.0.unlock().unwrap();
            }
        }
    }

    fn task<'a>(&'a self, me: &'a mut Party) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            for _ in 0..me.steps() {
                let held = match me.below(6) {
                    0..2 => me.drop_soon(self.0.lock_async()).await.is_some(),
                    2 => self.0.lock_async_for(me.short()).await.is_ok(),
                    3 => self.0.lock_async_until(far()).await.is_ok(),
                    _ => {
                        self.0.lock_async().await;
                        true
                    }
                };
                if held {
                    me.linger_async().await;
                    self.0.unlock().unwrap();
                }
            }
        })
    }

    fn check(&self) {
        assert!(!self.0.is_locked());
    }
}
