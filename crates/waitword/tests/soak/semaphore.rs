//! No more permits are held than there are, and in the end they are all back.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use waitword::{AcquireError, OwnedSemaphorePermit, Semaphore, SemaphorePermit};

use crate::player::{Player, blocking, polling};
use crate::world::waiters;

/// The most that a player asks for.
const PERMITS: usize = 3;

pub(crate) struct OneSemaphore {
    semaphore: Arc<Semaphore>,
    /// All that are in being; raised before some are added, lowered after some were forgotten.
    permits: AtomicUsize,
    /// Counted after they were taken, and until they are given back.
    taken: AtomicUsize,
}

/// Sometimes in two parts.
macro_rules! give_back {
    ($self:ident, $player:ident, $permit:ident: $Permit:ident) => {{
        let mut permit: $Permit = $permit;
        if $player.one_in(4) {
            if let Some(part) = permit.split(1) {
                $self.taken.fetch_sub(1, Ordering::SeqCst);
                drop(part);
            }
        }
        $self.taken.fetch_sub(permit.num_permits(), Ordering::SeqCst);
        drop(permit);
    }};
}

impl OneSemaphore {
    pub(crate) fn new() -> Self {
        Self {
            semaphore: Arc::new(Semaphore::new(PERMITS)),
            permits: AtomicUsize::new(PERMITS),
            taken: AtomicUsize::new(0),
        }
    }

    pub(crate) fn step(&self, player: &mut Player) {
        let (semaphore, many) = (&self.semaphore, 1 + player.below(PERMITS));
        match player.below(8) {
            0 => {
                if let Ok(permit) = semaphore.try_acquire_many(many) {
                    self.count(many);
                    player.linger();
                    give_back!(self, player, permit: SemaphorePermit);
                }
            }
            1 => {
                if self.one_more_and_less(player) {
                    self.one_less(semaphore.acquire().map(SemaphorePermit::forget).is_ok());
                }
            }
            2..5 => {
                let permit = blocking! { player:
                    semaphore.acquire_many(many).map_err(AcquireError::from),
                    timeout => semaphore.acquire_many_for(many, timeout),
                    deadline => semaphore.acquire_many_until(many, deadline)
                };
                if self.given(&permit, many) {
                    player.linger();
                    permit.into_iter().for_each(|permit| give_back!(self, player, permit: SemaphorePermit));
                }
            }
            _ => {
                let permit = blocking! { player:
                    semaphore.acquire_many_owned(many).map_err(AcquireError::from),
                    timeout => semaphore.acquire_many_owned_for(many, timeout),
                    deadline => semaphore.acquire_many_owned_until(many, deadline)
                };
                if self.given(&permit, many) {
                    player.linger();
                    permit
                        .into_iter()
                        .for_each(|permit| give_back!(self, player, permit: OwnedSemaphorePermit));
                }
            }
        }
    }

    pub(crate) async fn step_async(&self, player: &mut Player) {
        let (semaphore, many) = (&self.semaphore, 1 + player.below(PERMITS));
        match player.below(8) {
            0 => {
                if let Ok(permit) = semaphore.try_acquire_many_owned(many) {
                    self.count(many);
                    player.linger_async().await;
                    give_back!(self, player, permit: OwnedSemaphorePermit);
                }
            }
            1 => {
                if self.one_more_and_less(player) {
                    self.one_less(semaphore.acquire_async().await.map(SemaphorePermit::forget).is_ok());
                }
            }
            2..5 => {
                let permit = polling! { player:
                    semaphore.acquire_many_async(many).await.map_err(AcquireError::from),
                    timeout => semaphore.acquire_many_async_for(many, timeout),
                    deadline => semaphore.acquire_many_async_until(many, deadline)
                };
                let Some(permit) = permit else { return };
                if self.given(&permit, many) {
                    player.linger_async().await;
                    permit.into_iter().for_each(|permit| give_back!(self, player, permit: SemaphorePermit));
                }
            }
            _ => {
                let permit = polling! { player:
                    semaphore.acquire_many_owned_async(many).await.map_err(AcquireError::from),
                    timeout => semaphore.acquire_many_owned_async_for(many, timeout),
                    deadline => semaphore.acquire_many_owned_async_until(many, deadline)
                };
                let Some(permit) = permit else { return };
                if self.given(&permit, many) {
                    player.linger_async().await;
                    permit
                        .into_iter()
                        .for_each(|permit| give_back!(self, player, permit: OwnedSemaphorePermit));
                }
            }
        }
    }

    /// Adds a permit, and takes one away if one is free; or else, says the answer, it is still to be taken away. Once in
    /// some rounds, it closes the semaphore instead.
    fn one_more_and_less(&self, player: &mut Player) -> bool {
        if player.one_in(200) {
            self.semaphore.close();
            return false;
        }
        self.permits.fetch_add(1, Ordering::SeqCst);
        self.semaphore.add_permits(1);
        player.linger();
        let forgotten = self.semaphore.forget_permits(1);
        self.permits.fetch_sub(forgotten, Ordering::SeqCst);
        forgotten == 0
    }

    /// A permit was acquired and forgotten, or else the semaphore is closed.
    fn one_less(&self, forgotten: bool) {
        assert!(forgotten || self.semaphore.is_closed());
        self.permits.fetch_sub(usize::from(forgotten), Ordering::SeqCst);
    }

    fn given<P>(&self, permit: &Result<P, AcquireError>, many: usize) -> bool {
        match permit {
            Ok(_) => self.count(many),
            Err(AcquireError::Closed) => assert!(self.semaphore.is_closed()),
            Err(_) => {}
        }
        permit.is_ok()
    }

    fn count(&self, many: usize) {
        let taken = self.taken.fetch_add(many, Ordering::SeqCst) + many;
        let permits = self.permits.load(Ordering::SeqCst);
        assert!(taken <= permits, "{taken} permits are taken of {permits}");
    }

    pub(crate) fn check(&self) {
        assert_eq!(self.taken.load(Ordering::SeqCst), 0);
        assert_eq!(
            self.semaphore.available_permits(),
            self.permits.load(Ordering::SeqCst),
            "permits are lost or made"
        );
    }

    pub(crate) fn queued(&self) -> usize {
        waiters(&*self.semaphore)
    }
}
