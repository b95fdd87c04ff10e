//! The holder of the mutex is alone.

use std::sync::Arc;

use waitword::{Mutex, MutexGuard, OwnedMutexGuard};

use crate::player::{Player, blocking, polling};
use crate::world::{Alone, waiters};

#[derive(Default)]
pub(crate) struct OneMutex {
    mutex: Arc<Mutex<()>>,
    alone: Alone,
}

macro_rules! leave {
    ($player:ident, $Guard:ident, $guard:ident) => {
        if $player.one_in(4) { $Guard::unlock_fair($guard) } else { drop($guard) }
    };
}

impl OneMutex {
    pub(crate) fn step(&self, player: &mut Player) {
        let mutex = &self.mutex;
        match player.below(8) {
            0 => drop(mutex.try_lock().inspect(|_| self.inside(player))),
            1 => drop(mutex.try_lock_owned().inspect(|_| self.inside(player))),
            2..5 => {
                let guard = blocking! { player:
                    Ok(mutex.lock()), timeout => mutex.lock_for(timeout), deadline => mutex.lock_until(deadline)
                };
                if let Ok(guard) = guard {
                    self.inside(player);
                    leave!(player, MutexGuard, guard);
                }
            }
            _ => {
                let guard = blocking! { player:
                    Ok(mutex.lock_owned()),
                    timeout => mutex.lock_owned_for(timeout),
                    deadline => mutex.lock_owned_until(deadline)
                };
                if let Ok(guard) = guard {
                    self.inside(player);
                    leave!(player, OwnedMutexGuard, guard);
                }
            }
        }
    }

    pub(crate) async fn step_async(&self, player: &mut Player) {
        let mutex = &self.mutex;
        match player.below(8) {
            0 => drop(mutex.try_lock().inspect(|_| self.inside(player))),
            1..5 => {
                let guard = polling! { player:
                    Ok(mutex.lock_async().await),
                    timeout => mutex.lock_async_for(timeout),
                    deadline => mutex.lock_async_until(deadline)
                };
                if let Some(Ok(guard)) = guard {
                    self.inside_async(player).await;
                    leave!(player, MutexGuard, guard);
                }
            }
            _ => {
                let guard = polling! { player:
                    Ok(mutex.lock_owned_async().await),
                    timeout => mutex.lock_owned_async_for(timeout),
                    deadline => mutex.lock_owned_async_until(deadline)
                };
                if let Some(Ok(guard)) = guard {
                    self.inside_async(player).await;
                    leave!(player, OwnedMutexGuard, guard);
                }
            }
        }
    }

    fn inside(&self, player: &mut Player) {
        let seen = self.alone.enter();
        player.linger();
        self.alone.leave(seen);
    }

    async fn inside_async(&self, player: &mut Player) {
        let seen = self.alone.enter();
        player.linger_async().await;
        self.alone.leave(seen);
    }

    pub(crate) fn check(&self) {
        self.alone.check();
        assert!(!self.mutex.is_locked());
    }

    pub(crate) fn queued(&self) -> usize {
        waiters(&*self.mutex)
    }
}
