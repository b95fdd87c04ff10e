//! A writer is alone, also among readers; there is one upgradable reader at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use waitword::{
    OwnedRwLockUpgradableReadGuard, OwnedRwLockWriteGuard, RwLock, RwLockUpgradableReadGuard,
    RwLockWriteGuard,
};

use crate::event::Counted;
use crate::player::{Player, blocking, polling};
use crate::world::{Alone, waiters};

#[derive(Default)]
pub(crate) struct OneRwLock {
    lock: Arc<RwLock<()>>,
    writers: Alone,
    upgradable: Alone,
    /// Without the upgradable reader.
    readers: AtomicUsize,
}

impl OneRwLock {
    pub(crate) fn step(&self, player: &mut Player) {
        let lock = &self.lock;
        match player.below(12) {
            0 => drop(lock.try_read().inspect(|_| self.reads(player))),
            1 => drop(lock.try_read_recursive().inspect(|_| self.reads(player))),
            2 => drop(lock.try_write_owned().inspect(|_| self.writes(player))),
            3 => lock.try_upgradable_read().into_iter().for_each(|guard| self.upgrades(player, guard)),
            4 | 5 => {
                let guard = blocking! { player:
                    Ok(lock.read()), timeout => lock.read_for(timeout), deadline => lock.read_until(deadline)
                };
                drop(guard.inspect(|_| self.reads(player)));
            }
            6 => {
                let guard = blocking! { player:
                    Ok(lock.read_owned()),
                    timeout => lock.read_owned_for(timeout),
                    deadline => lock.read_owned_until(deadline)
                };
                drop(guard.inspect(|_| self.reads(player)));
            }
            7 => {
                let guard = blocking! { player:
                    Ok(lock.upgradable_read()),
                    timeout => lock.upgradable_read_for(timeout),
                    deadline => lock.upgradable_read_until(deadline)
                };
                guard.into_iter().for_each(|guard| self.upgrades(player, guard));
            }
            8 => {
                let guard = blocking! { player:
                    Ok(lock.upgradable_read_owned()),
                    timeout => lock.upgradable_read_owned_for(timeout),
                    deadline => lock.upgradable_read_owned_until(deadline)
                };
                guard.into_iter().for_each(|guard| self.upgrades_owned(player, guard));
            }
            9 | 10 => {
                let guard = blocking! { player:
                    Ok(lock.write()), timeout => lock.write_for(timeout), deadline => lock.write_until(deadline)
                };
                guard.into_iter().for_each(|guard| self.holds(player, guard));
            }
            _ => {
                let guard = blocking! { player:
                    Ok(lock.write_owned()),
                    timeout => lock.write_owned_for(timeout),
                    deadline => lock.write_owned_until(deadline)
                };
                guard.into_iter().for_each(|guard| self.holds_owned(player, guard));
            }
        }
    }

    pub(crate) async fn step_async(&self, player: &mut Player) {
        let lock = &self.lock;
        match player.below(8) {
            0 | 1 => {
                let guard = polling! { player:
                    Ok(lock.read_async().await),
                    timeout => lock.read_async_for(timeout),
                    deadline => lock.read_async_until(deadline)
                };
                if let Some(Ok(_guard)) = guard {
                    self.reads_async(player).await;
                }
            }
            2 => {
                let guard = polling! { player:
                    Ok(lock.read_owned_async().await),
                    timeout => lock.read_owned_async_for(timeout),
                    deadline => lock.read_owned_async_until(deadline)
                };
                if let Some(Ok(_guard)) = guard {
                    self.reads_async(player).await;
                }
            }
            3 => {
                let guard = polling! { player:
                    Ok(lock.upgradable_read_async().await),
                    timeout => lock.upgradable_read_async_for(timeout),
                    deadline => lock.upgradable_read_async_until(deadline)
                };
                if let Some(Ok(guard)) = guard {
                    self.upgrades_async(player, guard).await;
                }
            }
            4 => {
                let guard = polling! { player:
                    Ok(lock.upgradable_read_owned_async().await),
                    timeout => lock.upgradable_read_owned_async_for(timeout),
                    deadline => lock.upgradable_read_owned_async_until(deadline)
                };
                if let Some(Ok(guard)) = guard {
                    self.upgrades_owned_async(player, guard).await;
                }
            }
            5 | 6 => {
                let guard = polling! { player:
                    Ok(lock.write_async().await),
                    timeout => lock.write_async_for(timeout),
                    deadline => lock.write_async_until(deadline)
                };
                if let Some(Ok(guard)) = guard {
                    self.holds_async(player, guard).await;
                }
            }
            _ => {
                let guard = polling! { player:
                    Ok(lock.write_owned_async().await),
                    timeout => lock.write_owned_async_for(timeout),
                    deadline => lock.write_owned_async_until(deadline)
                };
                if let Some(Ok(guard)) = guard {
                    self.holds_owned_async(player, guard).await;
                }
            }
        }
    }

    fn reads(&self, player: &mut Player) {
        let (_reader, seen) = (Counted::one_more(&self.readers), self.writers.seen());
        player.linger();
        assert_eq!(self.writers.seen(), seen, "written beside a reader");
    }

    async fn reads_async(&self, player: &mut Player) {
        let (_reader, seen) = (Counted::one_more(&self.readers), self.writers.seen());
        player.linger_async().await;
        assert_eq!(self.writers.seen(), seen, "written beside a reader");
    }

    fn writes(&self, player: &mut Player) {
        let seen = self.writers.enter();
        self.assert_no_reader();
        player.linger();
        self.assert_no_reader();
        self.writers.leave(seen);
    }

    async fn writes_async(&self, player: &mut Player) {
        let seen = self.writers.enter();
        self.assert_no_reader();
        player.linger_async().await;
        self.assert_no_reader();
        self.writers.leave(seen);
    }

    fn assert_no_reader(&self) {
        assert_eq!(self.readers.load(Ordering::SeqCst), 0, "a reader beside a writer");
    }

    pub(crate) fn check(&self) {
        self.writers.check();
        self.upgradable.check();
        assert!(!self.lock.is_locked());
    }

    pub(crate) fn queued(&self) -> usize {
        waiters(&*self.lock)
    }
}

/// What is done with the guards that can become others.
macro_rules! guards {
    (
        $Upgradable:ident: $upgrades:ident, $upgrades_async:ident;
        $Write:ident: $holds:ident, $holds_async:ident, $lets_go:ident
    ) => {
        impl OneRwLock {
            fn $upgrades(&self, player: &mut Player, guard: guard!($Upgradable)) {
                let before = self.upgradable.enter();
                let seen = self.writers.seen();
                player.linger();
                assert_eq!(self.writers.seen(), seen, "written beside a reader");
                self.upgradable.leave(before);
                let guard = match player.below(6) {
                    0 => return,
                    1 => {
                        let _guard = $Upgradable::downgrade(guard);
                        return self.reads(player);
                    }
                    2 => $Upgradable::try_upgrade(guard).ok(),
                    _ => {
                        let upgraded = blocking! { player:
                            Ok($Upgradable::upgrade(guard)),
                            timeout => $Upgradable::upgrade_for(guard, timeout),
                            deadline => $Upgradable::upgrade_until(guard, deadline)
                        };
                        upgraded.ok()
                    }
                };
                guard.into_iter().for_each(|guard| self.$holds(player, guard));
            }

            async fn $upgrades_async(&self, player: &mut Player, guard: guard!($Upgradable)) {
                let before = self.upgradable.enter();
                let seen = self.writers.seen();
                player.linger_async().await;
                assert_eq!(self.writers.seen(), seen, "written beside a reader");
                self.upgradable.leave(before);
                let upgraded = polling! { player:
                    Ok($Upgradable::upgrade_async(guard).await),
                    timeout => $Upgradable::upgrade_async_for(guard, timeout),
                    deadline => $Upgradable::upgrade_async_until(guard, deadline)
                };
                if let Some(Ok(guard)) = upgraded {
                    self.$holds_async(player, guard).await;
                }
            }

            fn $holds(&self, player: &mut Player, guard: guard!($Write)) {
                self.writes(player);
                self.$lets_go(player, guard);
            }

            async fn $holds_async(&self, player: &mut Player, guard: guard!($Write)) {
                self.writes_async(player).await;
                self.$lets_go(player, guard);
            }

            fn $lets_go(&self, player: &mut Player, guard: guard!($Write)) {
                match player.below(6) {
                    0 => {
                        let _guard = $Write::downgrade(guard);
                        self.reads(player);
                    }
                    1 => {
                        let _guard = $Write::downgrade_to_upgradable(guard);
                        self.upgradable.leave(self.upgradable.enter());
                    }
                    2 => $Write::unlock_fair(guard),
                    _ => drop(guard),
                }
            }
        }
    };
}

macro_rules! guard {
    (OwnedRwLockUpgradableReadGuard) => { OwnedRwLockUpgradableReadGuard<()> };
    (OwnedRwLockWriteGuard) => { OwnedRwLockWriteGuard<()> };
    ($Borrowed:ident) => { $Borrowed<'_, ()> };
}

guards! {
    RwLockUpgradableReadGuard: upgrades, upgrades_async;
    RwLockWriteGuard: holds, holds_async, lets_go
}

guards! {
    OwnedRwLockUpgradableReadGuard: upgrades_owned, upgrades_owned_async;
    OwnedRwLockWriteGuard: holds_owned, holds_owned_async, lets_go_owned
}
