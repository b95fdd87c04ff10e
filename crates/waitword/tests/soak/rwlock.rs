//! `RwLock`: a writer is alone, also among readers; there is one upgradable reader at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use waitword::{
    OwnedRwLockReadGuard, OwnedRwLockUpgradableReadGuard, OwnedRwLockWriteGuard, RwLock, RwLockReadGuard,
    RwLockUpgradableReadGuard, RwLockWriteGuard,
};

use super::player::{Player, got};
use super::{Alone, Counted, Lock, waiters};

#[derive(Default)]
pub(crate) struct OneRwLock {
    lock: Arc<RwLock<()>>,
    writers: Alone,
    upgradable: Alone,
    /// Without the upgradable reader.
    readers: AtomicUsize,
}

impl OneRwLock {
    async fn reads(&self, player: &mut Player) {
        let (_reader, seen) = (Counted::one_more(&self.readers), self.writers.seen());
        player.linger().await;
        if player.one_in(8) {
            drop(self.lock.try_read_recursive().expect("read already"));
        }
        assert_eq!(self.writers.seen(), seen, "written beside a reader");
    }

    async fn writes(&self, player: &mut Player) {
        self.assert_no_reader();
        self.writers.linger(player).await;
        self.assert_no_reader();
    }

    fn assert_no_reader(&self) {
        assert_eq!(self.readers.load(Ordering::SeqCst), 0, "a reader beside a writer");
    }
}

/// What is done with a guard, which can become others. It blocks to bump one, so that is for threads.
macro_rules! guards {
    ($Read:ident: $read:ident; $Upgradable:ident: $upgrade:ident; $Write:ident: $write:ident; $($life:lifetime)?) => {
        impl OneRwLock {
            async fn $read(&self, player: &mut Player, mut guard: $Read<$($life,)? ()>) {
                self.reads(player).await;
                if player.is_thread() && player.one_in(8) {
                    $Read::bump(&mut guard);
                    self.reads(player).await;
                }
                if player.one_in(8) {
                    $Read::unlock_fair(guard);
                }
            }

            async fn $upgrade(&self, player: &mut Player, guard: $Upgradable<$($life,)? ()>) {
                let seen = self.writers.seen();
                self.upgradable.linger(player).await;
                assert_eq!(self.writers.seen(), seen, "written beside a reader");
                let upgraded = match player.below(8) {
                    0 => return,
                    1 => return self.$read(player, $Upgradable::downgrade(guard)).await,
                    2 => $Upgradable::try_upgrade(guard).ok(),
                    _ => got! { player:
                        Ok($Upgradable::upgrade(guard)), Ok($Upgradable::upgrade_async(guard).await);
                        time => $Upgradable::upgrade_for(guard, time).map_err(|not| not.error),
                        async { $Upgradable::upgrade_async(guard).timeout(time).await.map_err(|not| not.error) };
                        time => $Upgradable::upgrade_until(guard, time).map_err(|not| not.error),
                        async { $Upgradable::upgrade_async(guard).deadline(time).await.map_err(|not| not.error) }
                    },
                };
                if let Some(guard) = upgraded {
                    self.$write(player, guard).await;
                }
            }

            async fn $write(&self, player: &mut Player, mut guard: $Write<$($life,)? ()>) {
                self.writes(player).await;
                if player.is_thread() && player.one_in(8) {
                    $Write::bump(&mut guard);
                    self.writes(player).await;
                }
                match player.below(6) {
                    0 => {
                        let _guard = $Write::downgrade(guard);
                        self.reads(player).await;
                    }
                    1 => {
                        let _guard = $Write::downgrade_to_upgradable(guard);
                        self.upgradable.linger(player).await;
                    }
                    2 => $Write::unlock_fair(guard),
                    _ => drop(guard),
                }
            }
        }
    };
}

guards! { RwLockReadGuard: read; RwLockUpgradableReadGuard: upgrade; RwLockWriteGuard: write; '_ }

guards! {
    OwnedRwLockReadGuard: read_owned;
    OwnedRwLockUpgradableReadGuard: upgrade_owned;
    OwnedRwLockWriteGuard: write_owned;
}

impl Lock for OneRwLock {
    fn new(_players: usize, _draw: &mut Player) -> Self {
        Self::default()
    }

    async fn step(&self, player: &mut Player) {
        let lock = &self.lock;
        macro_rules! tried {
            ($then:ident: $guard:expr) => {
                if let Some(guard) = $guard {
                    self.$then(player, guard).await;
                }
            };
        }
        macro_rules! acquired {
            ($then:ident: $($forms:tt)*) => { tried!($then: got!(player: lock, $($forms)*)) };
        }
        match player.below(12) {
            0 => tried!(read: lock.try_read()),
            1 => tried!(read: lock.try_read_recursive()),
            2 => tried!(write_owned: lock.try_write_owned()),
            3 => tried!(upgrade: lock.try_upgradable_read()),
            4 | 5 => acquired!(read: read, read_for, read_until;
                read_async),
            6 => acquired!(read_owned: read_owned;
                read_owned_async),
            7 => acquired!(upgrade: upgradable_read, upgradable_read_for, upgradable_read_until;
                upgradable_read_async),
            8 => acquired!(upgrade_owned:
                upgradable_read_owned;
                upgradable_read_owned_async),
            9 | 10 => acquired!(write: write, write_for, write_until;
                write_async),
            _ => acquired!(write_owned: write_owned;
                write_owned_async),
        }
    }

    fn check(&self) {
        self.writers.check();
        self.upgradable.check();
        assert!(!self.lock.is_locked());
        assert_eq!(Arc::strong_count(&self.lock), 1);
    }

    fn queued(&self) -> usize {
        waiters(&*self.lock)
    }
}
