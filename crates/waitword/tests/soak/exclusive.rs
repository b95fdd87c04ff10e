//! `Mutex` and `AsyncLock`: the holder is alone.

use std::sync::Arc;

use waitword::word::AsyncLock;
use waitword::{Mutex, MutexGuard, OwnedMutexGuard};

use super::player::{Player, got};
use super::{Alone, Lock, waiters};

#[derive(Default)]
pub(crate) struct OneMutex {
    mutex: Arc<Mutex<()>>,
    alone: Alone,
}

/// Inside, and out again.
macro_rules! holds {
    ($self:ident, $player:ident, $guard:expr, $Guard:ident) => {
        if let Some(mut guard) = $guard {
            $self.alone.linger($player).await;
            // It blocks, so this is for threads.
            if $player.is_thread() && $player.one_in(8) {
                $Guard::bump(&mut guard);
                $self.alone.linger($player).await;
            }
            if $player.one_in(4) { $Guard::unlock_fair(guard) } else { drop(guard) }
        }
    };
}

impl Lock for OneMutex {
    fn new(_players: usize, _draw: &mut Player) -> Self {
        Self::default()
    }

    async fn step(&self, player: &mut Player) {
        let mutex = &self.mutex;
        match player.below(8) {
            0 => holds!(self, player, mutex.try_lock(), MutexGuard),
            1 => holds!(self, player, mutex.try_lock_owned(), OwnedMutexGuard),
            2..5 => {
                let guard = got!(player: mutex,
                    lock, lock_for, lock_until; lock_async);
                holds!(self, player, guard, MutexGuard);
            }
            _ => {
                let guard = got!(player: mutex,
                    lock_owned;
                    lock_owned_async);
                holds!(self, player, guard, OwnedMutexGuard);
            }
        }
    }

    fn check(&self) {
        self.alone.check();
        assert!(!self.mutex.is_locked());
    }

    fn queued(&self) -> usize {
        waiters(&*self.mutex)
    }
}

#[derive(Default)]
pub(crate) struct OneAsyncLock {
    lock: AsyncLock,
    alone: Alone,
}

impl Lock for OneAsyncLock {
    fn new(_players: usize, _draw: &mut Player) -> Self {
        Self::default()
    }

    async fn step(&self, player: &mut Player) {
        let lock = &self.lock;
        let holds = if player.one_in(6) {
            lock.try_lock()
        } else {
            let held = got!(player: lock,
                lock, lock_for, lock_until; lock_async);
            held.is_some()
        };
        if holds {
            self.alone.linger(player).await;
            lock.unlock().unwrap();
        }
    }

    fn check(&self) {
        self.alone.check();
        assert!(!self.lock.is_locked());
    }

    fn queued(&self) -> usize {
        waiters(&self.lock)
    }
}
