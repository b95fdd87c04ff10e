//! `RwLock`: readers, writers, upgrades and downgrades, and waits that give up.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};

use waitword::{RwLock, RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard};

use crate::Scene;
use crate::common::far;
use crate::party::Party;

#[derive(Default)]
pub(crate) struct OneRwLock {
    lock: RwLock<u64>,
    written: AtomicU64,
}

impl OneRwLock {
    fn write(&self, mut guard: RwLockWriteGuard<'_, u64>, me: &mut Party) {
        *guard += 1;
        self.written.fetch_add(1, Ordering::Relaxed);
        match me.below(8) {
            0 => RwLockWriteGuard::unlock_fair(guard),
            2..4 => drop(RwLockWriteGuard::downgrade(guard)),
            4 => drop(RwLockWriteGuard::downgrade_to_upgradable(guard)),
            _ => {}
        }
    }

    fn read(&self, guard: RwLockReadGuard<'_, u64>, me: &mut Party) {
        if me.one_in(8) {
            RwLockReadGuard::unlock_fair(guard);
        }
    }
}

impl Scene for OneRwLock {
    fn new(_parties: usize, _draw: &mut Party) -> Self {
        Self::default()
    }

    fn thread(&self, me: &mut Party) {
        for _ in 0..me.steps() {
            match me.below(12) {
                0 => drop(self.lock.try_read()),
                1 => drop(self.lock.try_write()),
                2 => drop(self.lock.read_for(me.short())),
                3 => drop(self.lock.write_for(me.short())),
                4..7 => {
                    let mut guard = self.lock.read();
                    me.linger();
                    // It blocks, so this is for threads.
                    if me.one_in(8) {
                        RwLockReadGuard::bump(&mut guard);
                    }
                    self.read(guard, me);
                }
                7..9 => {
                    let guard = self.lock.upgradable_read_until(far()).unwrap();
                    me.linger();
                    match me.below(3) {
                        0 => drop(guard),
                        1 => drop(RwLockUpgradableReadGuard::upgrade_for(guard, me.short())),
                        _ => self.write(RwLockUpgradableReadGuard::upgrade(guard), me),
                    }
                }
                _ => {
                    let mut guard = self.lock.write();
                    me.linger();
                    if me.one_in(8) {
                        RwLockWriteGuard::bump(&mut guard);
                    }
                    self.write(guard, me);
                }
            }
        }
    }

    fn task<'a>(&'a self, me: &'a mut Party) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            for _ in 0..me.steps() {
                match me.below(12) {
                    0 => drop(me.drop_soon(self.lock.read_async()).await),
                    1 => drop(me.drop_soon(self.lock.write_async()).await),
                    2 => drop(me.drop_soon(self.lock.upgradable_read_async()).await),
                    3 => drop(self.lock.write_async_for(me.short()).await),
                    4..7 => {
                        let guard = self.lock.read_async().await;
                        me.linger_async().await;
                        self.read(guard, me);
                    }
                    7..9 => {
                        let guard = self.lock.upgradable_read_async_until(far()).await.unwrap();
                        me.linger_async().await;
                        match me.below(3) {
                            0 => drop(guard),
                            1 => {
                                let upgrade = RwLockUpgradableReadGuard::upgrade_async(guard);
                                drop(me.drop_soon(upgrade).await);
                            }
                            _ => self.write(RwLockUpgradableReadGuard::upgrade_async(guard).await, me),
                        }
                    }
                    _ => {
                        let guard = self.lock.write_async().await;
                        me.linger_async().await;
                        self.write(guard, me);
                    }
                }
            }
        })
    }

    fn check(&self) {
        let lock = self.lock.try_write().expect("it is free");
        assert_eq!(*lock, self.written.load(Ordering::Relaxed));
    }
}
