//! `Barrier`: of the waits that meet, one leads; and meetings by other locks. `WaitGroup`: a wait ends when all tokens have been dropped that were out when it began.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::Poll;

use waitword::{Barrier, BarrierWaitResult, WaitGroup};

use super::player::{Player, ended, got};
use super::{Lock, waiters};
use crate::common::poll;

/// Meetings, one after the other. None goes on before all have come, but those that give up. The last notifies once: a later meeting makes
/// up for nothing.
pub(super) struct Meetings {
    /// With those of earlier meetings, of which each had all.
    come: AtomicUsize,
    parties: usize,
}

impl Meetings {
    pub(super) fn new(players: usize, draw: &mut Player) -> Self {
        Self { come: AtomicUsize::new(0), parties: draw.parties(players) }
    }

    /// Returns the number of the meeting. The last calls `notify_all`.
    pub(super) fn come(&self, notify_all: impl FnOnce()) -> usize {
        let before = self.come.fetch_add(1, Ordering::SeqCst);
        if (before + 1).is_multiple_of(self.parties) {
            notify_all();
        }
        before / self.parties
    }

    pub(super) fn has_met(&self, meeting: usize) -> bool {
        self.come.load(Ordering::SeqCst) / self.parties > meeting
    }

    /// Unless the others have come.
    pub(super) fn give_up(&self, meeting: usize) {
        let one_less = |come| (come / self.parties == meeting).then(|| come - 1);
        let _ = self.come.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less);
    }

    /// Comes for those that do not.
    pub(super) fn complete(&self, notify_all: impl Fn()) {
        while !self.come.load(Ordering::SeqCst).is_multiple_of(self.parties) {
            self.come(&notify_all);
        }
    }
}

pub(crate) struct OneBarrier {
    barrier: Arc<Barrier>,
    parties: usize,
    passed: AtomicUsize,
    leaders: AtomicUsize,
    /// Futures that may have met the others all the same.
    dropped: AtomicUsize,
}

impl OneBarrier {
    fn count(&self, result: BarrierWaitResult) {
        self.passed.fetch_add(1, Ordering::SeqCst);
        self.leaders.fetch_add(usize::from(result.is_leader()), Ordering::SeqCst);
    }
}

impl Lock for OneBarrier {
    fn new(players: usize, draw: &mut Player) -> Self {
        let (parties, none) = (draw.parties(players), || AtomicUsize::new(0));
        let barrier = Arc::new(Barrier::new(parties));
        Self { barrier, parties, passed: none(), leaders: none(), dropped: none() }
    }

    async fn step(&self, player: &mut Player) {
        let barrier = &self.barrier;
        if player.is_thread() && player.one_in(8) {
            return barrier.try_wait().into_iter().for_each(|result| self.count(result));
        }
        let result = if player.is_thread() || player.one_in(2) {
            ended!(player: barrier, wait, wait_for, wait_until; wait_async)
        } else {
            ended!(player: barrier, wait, wait_for, wait_until;
                wait_owned_async)
        };
        match result {
            Some(result) => result.into_iter().for_each(|result| self.count(result)),
            None => drop(self.dropped.fetch_add(1, Ordering::SeqCst)),
        }
    }

    /// Comes as often as it takes for one other, and goes again if others were enough.
    fn help(&self, _player: &mut Player) {
        if self.barrier.arrived() == 0 {
            return;
        }
        let mut arrivals: Vec<_> = (1..self.parties).map(|_| Box::pin(self.barrier.wait_async())).collect();
        // The first may have met the others when the last has come.
        for _ in 0..2 {
            arrivals.retain_mut(|arrival| match poll(arrival.as_mut()) {
                Poll::Ready(result) => {
                    self.count(result);
                    false
                }
                Poll::Pending => true,
            });
        }
        self.dropped.fetch_add(arrivals.len(), Ordering::SeqCst);
    }

    fn check(&self) {
        let [passed, leaders, dropped] =
            [&self.passed, &self.leaders, &self.dropped].map(|count| count.load(Ordering::SeqCst));
        let met = self.parties * leaders;
        assert!(
            passed <= met && met <= passed + dropped,
            "{leaders} led {passed}, and {dropped} were dropped"
        );
        assert_eq!(self.barrier.arrived(), 0);
    }

    fn queued(&self) -> usize {
        waiters(&*self.barrier)
    }
}

pub(crate) struct OneWaitGroup {
    group: Arc<WaitGroup>,
    /// For each player, odd while it surely has a token.
    turns: Vec<AtomicU64>,
}

impl OneWaitGroup {
    fn turns(&self) -> Vec<u64> {
        self.turns.iter().map(|turn| turn.load(Ordering::SeqCst)).collect()
    }

    async fn hold<T>(&self, player: &mut Player, _token: T) {
        let turn = &self.turns[player.index];
        turn.fetch_add(1, Ordering::SeqCst);
        player.linger().await;
        turn.fetch_add(1, Ordering::SeqCst);
    }
}

impl Lock for OneWaitGroup {
    fn new(players: usize, _draw: &mut Player) -> Self {
        Self { group: Arc::default(), turns: (0..players).map(|_| AtomicU64::new(0)).collect() }
    }

    async fn step(&self, player: &mut Player) {
        let (group, out) = (&self.group, self.turns());
        let waited = match player.below(6) {
            0 => return self.hold(player, group.add()).await,
            1 => return self.hold(player, group.add_owned()).await,
            2 => group.try_wait(),
            3 | 4 => {
                let waited = got!(player: group,
                    wait, wait_for, wait_until; wait_async);
                waited.is_some()
            }
            _ => {
                let waited = got!(player: group, wait, wait_for, wait_until;
                    wait_owned_async);
                waited.is_some()
            }
        };
        let still = |(before, now): (&u64, u64)| before % 2 == 1 && *before == now;
        assert!(!waited || !out.iter().zip(self.turns()).any(still), "a token is still out");
    }

    fn check(&self) {
        assert_eq!(self.group.count(), 0);
    }

    fn queued(&self) -> usize {
        self.group.waiters()
    }
}
