//! `Semaphore`: no more permits are held than there are, and in the end they are all back.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use waitword::{AcquireError, Closed, OwnedSemaphorePermit, Semaphore, SemaphorePermit};

use super::player::{Player, ended};
use super::{Lock, waiters};

/// The most that a player asks for.
const PERMITS: usize = 3;

/// One that begins with a few permits; or with none, and then the partner closes it.
pub(crate) struct OneSemaphore<const CLOSES: bool> {
    semaphore: Arc<Semaphore>,
    /// All that are in being; raised before some are added, lowered after some were forgotten.
    permits: AtomicUsize,
    /// Counted after they were taken, and until they are given back.
    taken: AtomicUsize,
}

/// Counts what was acquired, and gives it back, sometimes in two parts.
macro_rules! holds {
    ($self:ident, $player:ident, $permit:expr, $Permit:ident) => {
        if let Some(mut permit) = $permit {
            $self.count($Permit::num_permits(&permit));
            $player.linger().await;
            if $player.one_in(4) {
                if let Some(part) = permit.split(1) {
                    $self.taken.fetch_sub(1, Ordering::SeqCst);
                    drop(part);
                }
            }
            $self.taken.fetch_sub(permit.num_permits(), Ordering::SeqCst);
            drop(permit);
        }
    };
}

impl<const CLOSES: bool> OneSemaphore<CLOSES> {
    /// Adds a permit, and takes one away if one is free; or else acquires it, and then takes it away. Once in some rounds, it closes
    /// the semaphore instead.
    async fn one_more_and_less(&self, player: &mut Player) {
        let semaphore = &self.semaphore;
        if player.one_in(200) {
            return semaphore.close();
        }
        self.permits.fetch_add(1, Ordering::SeqCst);
        semaphore.add_permits(1);
        player.linger().await;
        let mut forgotten = semaphore.forget_permits(1);
        if forgotten == 0 {
            let permit =
                if player.is_thread() { semaphore.acquire() } else { semaphore.acquire_async().await };
            forgotten = usize::from(permit.map(SemaphorePermit::forget).is_ok());
        }
        assert!(forgotten == 1 || semaphore.is_closed());
        self.permits.fetch_sub(forgotten, Ordering::SeqCst);
    }

    fn given<P>(&self, ended: Option<Result<P, AcquireError>>) -> Option<P> {
        let closed = matches!(ended, Some(Err(AcquireError::Closed)));
        assert!(!closed || self.semaphore.is_closed());
        ended.and_then(Result::ok)
    }

    fn count(&self, many: usize) {
        let taken = self.taken.fetch_add(many, Ordering::SeqCst) + many;
        let permits = self.permits.load(Ordering::SeqCst);
        assert!(taken <= permits, "{taken} permits are taken of {permits}");
    }
}

impl<const CLOSES: bool> Lock for OneSemaphore<CLOSES> {
    fn new(_players: usize, _draw: &mut Player) -> Self {
        let permits = if CLOSES { 0 } else { PERMITS };
        let semaphore = Arc::new(Semaphore::new(permits));
        Self { semaphore, permits: AtomicUsize::new(permits), taken: AtomicUsize::new(0) }
    }

    async fn step(&self, player: &mut Player) {
        let (semaphore, many) = (&self.semaphore, 1 + player.below(PERMITS));
        macro_rules! acquired {
            ($plain:ident; $future:ident) => {
                self.given(ended! { player:
                    semaphore.$plain(many).map_err(Closed::into),
                    semaphore.$future(many).await.map_err(Closed::into);
                    time => smol::block_on(semaphore.$future(many).timeout(time)), semaphore.$future(many).timeout(time);
                    time => smol::block_on(semaphore.$future(many).deadline(time)), semaphore.$future(many).deadline(time)
                })
            };
        }
        match player.below(8) {
            0 if player.is_thread() => {
                holds!(self, player, semaphore.try_acquire_many(many).ok(), SemaphorePermit);
            }
            0 => holds!(self, player, semaphore.try_acquire_many_owned(many).ok(), OwnedSemaphorePermit),
            1 if !CLOSES => self.one_more_and_less(player).await,
            1..5 => holds!(self, player, acquired!(acquire_many; acquire_many_async), SemaphorePermit),
            _ => {
                holds!(
                    self,
                    player,
                    acquired!(acquire_many_owned; acquire_many_owned_async),
                    OwnedSemaphorePermit
                );
            }
        }
    }

    /// Not at once: first some are to wait.
    fn help(&self, player: &mut Player) {
        if CLOSES && player.one_in(4) {
            self.semaphore.close();
        }
    }

    fn check(&self) {
        assert_eq!(self.taken.load(Ordering::SeqCst), 0);
        let permits = self.permits.load(Ordering::SeqCst);
        assert_eq!(self.semaphore.available_permits(), permits, "permits are lost or made");
    }

    fn queued(&self) -> usize {
        waiters(&*self.semaphore)
    }
}
